#include "machine/tile_costs.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/toml_fields.h"

namespace tessera::machine {
namespace {

constexpr double kMostCycles = 1e18;
constexpr std::array<std::string_view, 5> kProductInputs = {"m", "n", "k", "batch", "volume"};
constexpr std::array<std::string_view, 4> kReductionInputs = {"results", "iterations", "operations",
                                                              "special"};
constexpr std::array<std::string_view, 3> kElementwiseInputs = {"iterations", "operations", "special"};

size_t input_named(TomlFields& fields, TileKind kind) {
    const std::string given = fields.text("input");
    const auto inputs = inputs_of(kind);
    const auto found = std::find(inputs.begin(), inputs.end(), given);
    if (found == inputs.end())
        fields.refuse("input", fmt::format("is {}, expected one of {}", given, fmt::join(inputs, ", ")));
    return static_cast<size_t>(found - inputs.begin());
}

/// Reads the subtree that begins at `next`, and leaves the node behind it there.
void read_subtree(std::vector<TomlFields>& tables, size_t& next, TileCosts& costs) {
    if (next == tables.size())
        tables.back().refuse("node", "ends before every decision has two nodes",
                             "the smaller side follows a decision, then the other");
    TomlFields& fields = tables[next];
    const size_t own = next++;
    CostNode node;
    if (fields.has("input")) {
        node.input = input_named(fields, costs.kind);
        node.below = fields.real("below", -kMostCycles, kMostCycles);
        fields.finish();
        costs.nodes.push_back(std::move(node));
        read_subtree(tables, next, costs);
        costs.nodes[own].otherwise = next;
        read_subtree(tables, next, costs);
        return;
    }
    node.constant = fields.real("constant", -kMostCycles, kMostCycles);
    for (const std::string_view input : inputs_of(costs.kind))
        node.slopes.push_back(fields.has(input) ? fields.real(input, -kMostCycles, kMostCycles) : 0);
    fields.finish();
    costs.nodes.push_back(std::move(node));
}

}  // namespace

std::string_view name(TileKind kind) {
    switch (kind) {
        case TileKind::kProduct:
            return "product";
        case TileKind::kAttention:
            return "attention";
        case TileKind::kReduction:
            return "reduction";
        case TileKind::kElementwise:
            break;
    }
    return "elementwise";
}

std::optional<TileKind> tile_kind_of(std::string_view name) {
    for (const TileKind kind : kTileKinds)
        if (machine::name(kind) == name) return kind;
    return std::nullopt;
}

std::span<const std::string_view> inputs_of(TileKind kind) {
    switch (kind) {
        case TileKind::kProduct:
        case TileKind::kAttention:
            return kProductInputs;
        case TileKind::kReduction:
            return kReductionInputs;
        case TileKind::kElementwise:
            break;
    }
    return kElementwiseInputs;
}

double cycles_by(const std::vector<CostNode>& nodes, std::span<const double> inputs) {
    size_t at = 0;
    while (nodes[at].input) at = inputs[*nodes[at].input] < nodes[at].below ? at + 1 : nodes[at].otherwise;
    double cycles = nodes[at].constant;
    for (size_t i = 0; i < inputs.size(); ++i) cycles += nodes[at].slopes[i] * inputs[i];
    return std::max(1.0, cycles);
}

TileCosts read_tile_costs(TomlFields fields) {
    TileCosts costs;
    const std::string given = fields.text("operator");
    const auto kind = tile_kind_of(given);
    if (!kind)
        fields.refuse("operator",
                      fmt::format("is {}, expected product, attention, reduction or elementwise", given));
    costs.kind = *kind;
    std::vector<TomlFields> nodes = fields.tables("node");
    if (nodes.size() > kMostCostNodes)
        fields.refuse("node",
                      fmt::format("has {} entries, expected at most {}", nodes.size(), kMostCostNodes));
    size_t next = 0;
    read_subtree(nodes, next, costs);
    if (next != nodes.size())
        nodes[next].refuse("node", "is one too many: every decision before it has its two nodes");
    fields.finish();
    return costs;
}

std::string print_tile_costs(const TileCosts& costs) {
    std::string text = fmt::format("\n[[tile_cost]]\noperator = \"{}\"\n", name(costs.kind));
    const auto inputs = inputs_of(costs.kind);
    for (const CostNode& node : costs.nodes) {
        text += "\n[[tile_cost.node]]\n";
        if (node.input) {
            text += fmt::format("input = \"{}\"\nbelow = {}\n", inputs[*node.input], node.below);
            continue;
        }
        text += fmt::format("constant = {}\n", node.constant);
        for (size_t i = 0; i < inputs.size(); ++i)
            if (node.slopes[i] != 0) text += fmt::format("{} = {}\n", inputs[i], node.slopes[i]);
    }
    return text;
}

}  // namespace tessera::machine
