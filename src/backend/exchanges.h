#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/movement/program.h"

/// Calls by which the ranks of a program meet (ir/ops/exchange.h), in what C and C++ have in common.
namespace tessera::backend {

struct ExchangeText {
    std::string before, after;  ///< the call over `step`, with the address of the parts in the middle
    /// Expressions over `step`: the offset of the rank's part, in elements, and the tables that it refers to.
    /// Empty: every rank writes at the same place.
    std::string start = {}, tables = {};
};

/// For each exchange of the graph, by its node's name.
using Exchanges = std::map<std::string, ExchangeText>;
Exchanges exchanges_of(const Graph& graph);

/// The exchange at the end of a kernel.
struct KernelExchange {
    const ExchangeText& text;
    const movement::ProgramBuffer& parts;  ///< which the kernel writes
};

/// Empty: the kernel ends with none.
std::optional<KernelExchange> exchange_of(const movement::Kernel& kernel, const Exchanges& exchanges);

/// The call behind a kernel that makes a rank's part; empty behind any other. With several workers they meet
/// before and behind it, and worker 0 calls.
std::string exchange_text(const movement::Kernel& kernel, int64_t workers, const Exchanges& exchanges,
                          const std::string& indent);

}  // namespace tessera::backend
