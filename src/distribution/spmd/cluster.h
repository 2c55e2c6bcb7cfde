#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "distribution/placement.h"
#include "machine/description.h"

namespace tessera::spmd {

/// Nested devices as a search for distributions needs them (docs/distribution.md, "Models"): what one does in
/// a second, and what lies between them. A view of machine::Description.
struct Cluster {
    std::string name;
    std::vector<std::string> levels;  ///< names, the outermost first
    distribution::Placement placement;
    double flops_per_second = 1;    ///< of one device
    double bytes_per_second = 1;    ///< of one device
    std::optional<int64_t> memory;  ///< bytes of one memory: of a device, or of the devices that share one
    bool operator==(const Cluster&) const = default;
};

/// @param where the file's name. @throws Error naming what the description lacks
Cluster cluster_of(const machine::Description& description, const std::string& where);

/// The same of a text. @throws Error also as machine::parse_description
Cluster parse_cluster(std::string_view text, const std::string& where);

/// The ranks of a program on one machine: the link that was measured between so many, or 1 us and 5 GB/s.
distribution::Level rank_level(const machine::Machine& machine, int64_t ranks);

/// "4 node x 8 gpu".
std::string shape_text(const Cluster& cluster);

}  // namespace tessera::spmd
