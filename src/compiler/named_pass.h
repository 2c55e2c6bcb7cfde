#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "machine/machine.h"

namespace tessera::compiler {

/// One pass on a graph for `tessera opt`: from a graph to the printed form of its result.
struct NamedPass {
    std::string_view name;
    std::string_view summary;
    std::string (*run)(const Graph& graph, const machine::Machine& machine);
};

std::span<const NamedPass> named_passes();
/// nullptr if there is none of this name.
const NamedPass* find_named_pass(std::string_view name);

}  // namespace tessera::compiler
