#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::machine {

/// The types of operators whose tiles have a cost of their own.
enum class TileKind : uint8_t {
    kProduct,      ///< a product of matrices
    kAttention,    ///< the weighted values of a softmax
    kReduction,    ///< another sum, maximum or the like
    kElementwise,  ///< everything else
};
inline constexpr std::array kTileKinds = {TileKind::kProduct, TileKind::kAttention, TileKind::kReduction,
                                          TileKind::kElementwise};
std::string_view name(TileKind kind);
std::optional<TileKind> tile_kind_of(std::string_view name);

/// The numbers that describe the shape of a tile.
std::span<const std::string_view> inputs_of(TileKind kind);

/// A node of a linear tree: it decides by one input, or is a leaf with a linear function of all of them.
struct CostNode {
    std::optional<size_t> input;  ///< index into inputs_of; none: a leaf
    double below = 0;             ///< smaller inputs go on with the next node
    size_t otherwise = 0;         ///< the node for others
    double constant = 0;          ///< of a leaf, cycles
    std::vector<double> slopes;   ///< of a leaf, one for each input
    friend bool operator==(const CostNode&, const CostNode&) = default;
};

/// The value of a linear tree, at least 1: beyond what was measured a line may fall below any time.
/// @pre as many inputs as each leaf has slopes
double cycles_by(const std::vector<CostNode>& nodes, std::span<const double> inputs);

/// A linear tree: cycles of a tile by its shape. Source: paper 003, 4.3. Nodes are in the order of a walk
/// that takes the smaller side first.
struct TileCosts {
    TileKind kind = TileKind::kProduct;
    std::vector<CostNode> nodes;

    double cycles(std::span<const double> inputs) const { return cycles_by(nodes, inputs); }
    friend bool operator==(const TileCosts&, const TileCosts&) = default;
};

/// The limit on the nodes of a tree.
inline constexpr size_t kMostCostNodes = 1023;

class TomlFields;
/// @throws Error naming the field of a tree that is none
TileCosts read_tile_costs(TomlFields fields);
std::string print_tile_costs(const TileCosts& costs);

}  // namespace tessera::machine
