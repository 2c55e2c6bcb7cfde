#include "machine/level.h"

#include <array>

#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr std::array<std::string_view, 6> kTopologies = {"shared", "bus",   "all-to-all",
                                                         "mesh",   "torus", "one-way torus"};

}  // namespace

std::string_view name(LinkTopology topology) {
    return kTopologies.at(static_cast<size_t>(topology));
}

std::optional<LinkTopology> find_topology(std::string_view name) {
    for (size_t i = 0; i < kTopologies.size(); ++i)
        if (kTopologies[i] == name) return static_cast<LinkTopology>(i);
    return std::nullopt;
}

std::vector<int64_t> attached(const Modules& modules, const std::vector<int64_t>& shape) {
    if (modules.edge.empty()) return modules.at;
    TESSERA_CHECK(shape.size() == 2, "edge {} of a grid of {} axes", modules.edge, shape.size());
    const int64_t rows = shape[0], columns = shape[1];
    const bool is_side = modules.edge == "left" || modules.edge == "right";
    std::vector<int64_t> instances;
    for (int64_t i = 0; i < (is_side ? rows : columns); ++i)
        instances.push_back(is_side ? i * columns + (modules.edge == "left" ? 0 : columns - 1)
                                    : i + (modules.edge == "top" ? 0 : (rows - 1) * columns));
    return instances;
}

}  // namespace tessera::machine
