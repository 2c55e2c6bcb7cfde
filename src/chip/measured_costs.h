#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chip/linear_tree.h"
#include "machine/tile_costs.h"

namespace tessera::chip {

/// The links of a chip that a table may have times of.
enum class MeasuredLink : uint8_t {
    kCore,  ///< from core to core
    kHbm,   ///< from a module of the HBM
    kChip,  ///< from chip to chip
};
inline constexpr std::array kMeasuredLinks = {MeasuredLink::kCore, MeasuredLink::kHbm, MeasuredLink::kChip};
std::string_view name(MeasuredLink link);

/// The measurements of a table.
struct MeasuredCosts {
    std::map<machine::TileKind, std::vector<CostSample>> tiles;  ///< inputs as machine::inputs_of
    std::map<MeasuredLink, std::vector<CostSample>> links;       ///< input: bytes
};

/// Reads a table in CSV (docs/chip-plan.md): a line of columns, then a measurement in each line.
/// @param where the file's name, for errors
/// @throws Error with "FILE:LINE" and the column of a wrong entry
MeasuredCosts read_measured_costs(std::string_view text, const std::string& where);

inline constexpr size_t kMostMeasurements = 1'000'000;

}  // namespace tessera::chip
