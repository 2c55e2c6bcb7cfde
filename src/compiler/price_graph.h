#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cost/level_traffic.h"
#include "ir/graph.h"
#include "lowering/plan/stated_kernels.h"
#include "machine/machine.h"
#include "machine/published_models.h"
#include "search/planner/stated.h"

namespace tessera::compiler {

/// A value of which only tiles exist, inside one kernel.
struct HeldBuffer {
    std::string value;
    std::string level;  ///< of memory, where it is found again
    double bytes = 0;   ///< at the bounds of the symbols
    bool operator==(const HeldBuffer&) const = default;
};

/// The price of a nest, as planning counts it (cost/evaluate.h), in seconds of the worker with most work.
struct NestPrice {
    std::string nest;  ///< with what the statement left open, without loops of one trip
    double seconds = 0;
    double compute = 0;
    double stalls = 0;
    std::vector<cost::LevelTraffic> levels;
    std::vector<HeldBuffer> buffers;
    double barrier = 0;        ///< of one meeting of all workers, which is no part of `seconds`
    std::string why_infinite;  ///< why `seconds` is not known; else empty
    /// By a published model: what `compile --cost` counts for this nest. Empty if it is not asked for, or if
    /// `why_infinite` says that there is no price.
    std::optional<machine::PublishedPrice> published;
};

/// A statement in one specialisation.
struct PricedNest {
    std::string where;           ///< "FILE:LINE"
    std::string stated;          ///< as the file has it
    std::string specialisation;  ///< empty if it is refused for all
    std::variant<NestPrice, planner::StatedRefusal> verdict;
};

struct PriceOptions {
    std::optional<int64_t> workers;               ///< default: the machine's cores
    std::optional<machine::PublishedModel> cost;  ///< priced beside what planning counts
};

struct GraphPrices {
    std::string machine;
    bool is_measured = false;  ///< else all prices are by roofs
    int64_t workers = 1;
    std::vector<PricedNest> nests;  ///< in the order of the statements, each in all its specialisations
};

/// Prices each statement by itself, as `compile --search-effort 0 --kernels` does: the graph is taken as it
/// stands, without a search for an equal one or for layouts, and no C++ compiler is asked.
///
/// Published models price the same nests by the same evaluator (cost/published.h): nncase in seconds of the
/// worker with most work, MCFuser and the roofline in seconds of all.
/// @pre the graph is verified
/// @throws Error for a graph that cannot be planned at all, or a machine without a rate that the published
/// model needs
GraphPrices price_graph(const Graph& graph, std::span<const plan::StatedText> stated,
                        const machine::Machine& machine, const PriceOptions& options);

}  // namespace tessera::compiler
