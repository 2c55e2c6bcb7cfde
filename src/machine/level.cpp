#include "machine/level.h"

#include <array>

#include "support/alternatives.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr std::array<std::string_view, 5> kTopologies = {"shared", "all-to-all", "mesh", "torus",
                                                         "one-way torus"};

/// The instances along an edge of a grid.
size_t length(const std::string& edge, const std::vector<int64_t>& shape) {
    TESSERA_CHECK(shape.size() == 2, "edge {} of a grid of {} axes", edge, shape.size());
    return static_cast<size_t>(edge == "left" || edge == "right" ? shape[0] : shape[1]);
}

}  // namespace

std::string_view name(LinkTopology topology) {
    return kTopologies.at(static_cast<size_t>(topology));
}

std::optional<LinkTopology> find_topology(std::string_view name) {
    for (size_t i = 0; i < kTopologies.size(); ++i)
        if (kTopologies[i] == name) return static_cast<LinkTopology>(i);
    return std::nullopt;
}

std::string topology_names() {
    return alternatives({kTopologies.begin(), kTopologies.end()});
}

size_t attached_count(const Modules& modules, const std::vector<int64_t>& shape) {
    return modules.edge.empty() ? modules.at.size() : length(modules.edge, shape);
}

std::vector<int64_t> attached(const Modules& modules, const std::vector<int64_t>& shape) {
    if (modules.edge.empty()) return modules.at;
    const auto count = static_cast<int64_t>(length(modules.edge, shape));
    const int64_t rows = shape[0], columns = shape[1];
    const bool is_side = modules.edge == "left" || modules.edge == "right";
    std::vector<int64_t> instances;
    for (int64_t i = 0; i < count; ++i)
        instances.push_back(is_side ? i * columns + (modules.edge == "left" ? 0 : columns - 1)
                                    : i + (modules.edge == "top" ? 0 : (rows - 1) * columns));
    return instances;
}

}  // namespace tessera::machine
