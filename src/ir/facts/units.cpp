#include "ir/facts/units.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/checked_arithmetic.h"
#include "ir/facts/packs.h"
#include "ir/facts/product.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

// The two operands whose product is summed.
std::optional<std::pair<int, int>> factors(const Definition& definition) {
    const auto both = two_factors(definition);
    if (!both) return std::nullopt;
    int left = -1;
    if (definition.monoid == Monoid::kSum) {
        left = std::get<Read>(both->first->node).tensor;
    } else {
        // The operands of the score stand for the weight.
        for (const Read& read : reads_in({both->first})) {
            if (definition.tensors[static_cast<size_t>(read.tensor)].role != Role::kIn) continue;
            if (left >= 0 && left != read.tensor) return std::nullopt;
            left = read.tensor;
        }
    }
    const int right = std::get<Read>(both->second->node).tensor;
    if (left < 0 || left == right) return std::nullopt;
    return std::pair(left, right);
}

// Axis -> lanes of one operand; an axis that occurs twice has the product of its factors.
std::map<std::string, int64_t> total_lanes(const UnitOperand& operand, const std::string& where) {
    std::map<std::string, int64_t> total;
    for (const auto& [axis, lanes] : operand.lanes) {
        if (lanes < 1) throw Error(where, axis, fmt::format("has {} lanes in a unit", lanes));
        const auto [place, is_new] = total.emplace(axis, lanes);
        if (!is_new) place->second = checked_mul(place->second, lanes, where);
    }
    return total;
}

struct UnitAxis {
    std::string name;
    int64_t lanes;
    std::vector<bool> listed;  ///< by each operand
};

std::vector<UnitAxis> unit_axes(const std::vector<UnitOperand>& unit, const std::string& where) {
    std::vector<UnitAxis> axes;
    for (size_t o = 0; o < unit.size(); ++o) {
        const auto total = total_lanes(unit[o], where);
        for (const auto& [name, factor] : unit[o].lanes) {
            const int64_t lanes = total.at(name);
            auto axis = std::ranges::find(axes, name, &UnitAxis::name);
            if (axis == axes.end()) {
                axes.push_back({name, lanes, std::vector<bool>(unit.size(), false)});
                axis = axes.end() - 1;
            }
            if (axis->lanes != lanes)
                throw Error(where, name,
                            fmt::format("has {} lanes in one operand of the unit and {} in another",
                                        axis->lanes, lanes));
            axis->listed[o] = true;
        }
    }
    return axes;
}

class Assigner {
public:
    Assigner(const BoundDefinition& bound, std::vector<UnitAxis> axes)
        : bound_(bound), axes_(std::move(axes)) {}

    void assign(const std::vector<int>& operands, std::vector<UnitAssignment>& found) {
        UnitAssignment partial{operands, {}};
        extend(partial, found);
    }

private:
    // Packs do not depend on the other axes, so each axis is settled alone; iterators must be distinct.
    void extend(UnitAssignment& partial, std::vector<UnitAssignment>& found) {
        if (partial.axes.size() == axes_.size()) {
            found.push_back(partial);
            return;
        }
        const UnitAxis& axis = axes_[partial.axes.size()];
        for (size_t i = 0; i < bound_.definition.iterators.size(); ++i) {
            const int iterator = static_cast<int>(i);
            const bool taken = std::ranges::any_of(
                partial.axes, [&](const auto& chosen) { return chosen.second == iterator; });
            if (taken || !fits(axis, iterator, partial.operands)) continue;
            partial.axes.emplace_back(axis.name, iterator);
            extend(partial, found);
            partial.axes.pop_back();
        }
    }

    bool fits(const UnitAxis& axis, int iterator, const std::vector<int>& operands) {
        const bool is_reduction = bound_.definition.iterators[static_cast<size_t>(iterator)].is_reduction;
        if (is_reduction == axis.listed.back()) return false;
        const auto key = std::pair(iterator, axis.lanes);
        auto known = packs_.find(key);
        if (known == packs_.end())
            known = packs_.emplace(key, derive_pack(bound_, iterator, axis.lanes)).first;
        if (!known->second) return false;
        for (size_t o = 0; o < operands.size(); ++o)
            if ((*known->second)[static_cast<size_t>(operands[o])].has_value() != axis.listed[o])
                return false;
        return true;
    }

    const BoundDefinition& bound_;
    std::vector<UnitAxis> axes_;
    std::map<std::pair<int, int64_t>, std::optional<Pack>> packs_;
};

}  // namespace

std::vector<UnitAssignment> derive_units(const BoundDefinition& bound, const std::vector<UnitOperand>& unit) {
    std::vector<UnitAssignment> found;
    if (unit.empty()) return found;
    if (unit.size() != 3)
        throw Error(bound.where, bound.definition.name,
                    fmt::format("its unit has {} operands, expected two factors and a result", unit.size()));
    Assigner assigner(bound, unit_axes(unit, bound.where));
    const auto pair = factors(bound.definition);
    if (!pair) return found;
    const int result = bound.definition.results().back();
    assigner.assign({pair->first, pair->second, result}, found);
    assigner.assign({pair->second, pair->first, result}, found);
    return found;
}

}  // namespace tessera::facts
