#include "search/rules/vectorize/packing.h"

#include <algorithm>
#include <map>

#include "ir/iterator_use.h"
#include "lowering/kernels/contraction.h"

namespace tessera::rules {
namespace {

enum class Along : uint8_t { kSame, kSideBySide, kApart };

/// True if every value of the expression is a multiple of `factor`.
bool is_multiple(const ExprPtr& expr, int64_t factor) {
    if (const auto* number = std::get_if<Number>(&expr->node))
        return number->is_integer && static_cast<int64_t>(number->value) % factor == 0;
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return false;
    const auto each = [&](const ExprPtr& part) { return is_multiple(part, factor); };
    if (call->function == Function::kMul) return std::ranges::any_of(call->arguments, each);
    const bool is_sum = call->function == Function::kAdd || call->function == Function::kSub;
    return is_sum && std::ranges::all_of(call->arguments, each);
}

/// The effect of an aligned group of `factor` values of x on a component.
Along along(const ExprPtr& component, int x, int64_t factor) {
    if (!uses(component, x)) return Along::kSame;
    if (std::holds_alternative<IteratorRef>(component->node)) return Along::kSideBySide;
    const auto* call = std::get_if<Apply>(&component->node);
    if (!call || is_indirect(component)) return Along::kApart;
    const ExprPtr &left = call->arguments[0], &right = call->arguments.back();
    switch (call->function) {
        case Function::kAdd: {
            const bool is_left = uses(left, x);
            if (is_left && uses(right, x)) return Along::kApart;
            const Along part = along(is_left ? left : right, x, factor);
            return part == Along::kSideBySide && !is_multiple(is_left ? right : left, factor) ? Along::kApart
                                                                                              : part;
        }
        case Function::kFloorDiv:  // a block, of several groups
            return is_multiple(right, factor) && std::holds_alternative<IteratorRef>(left->node)
                       ? Along::kSame
                       : Along::kApart;
        case Function::kMod:
            return is_multiple(right, factor) ? along(left, x, factor) : Along::kApart;
        default:
            return Along::kApart;
    }
}

/// True for the unit's type; sub-byte and byte integers are widened to the unit's bytes.
bool is_type_of(const machine::OperandLanes& operand, ElementType type) {
    if (operand.type == name(type)) return true;
    const bool is_byte = operand.type == "i8" || operand.type == "u8";
    return is_byte && is_integer(type) && bits(type) <= 8;
}

bool has_axis(const machine::OperandLanes& operand, char axis) {
    return std::ranges::any_of(operand.lanes,
                               [&](const machine::LaneAxis& lane) { return lane.axis == axis; });
}

/// The operand's lanes with iterators for axes; axes without one are left out.
Packing packing_with(const machine::OperandLanes& operand, const std::map<char, int>& iterators) {
    Packing packing;
    for (const machine::LaneAxis& lane : operand.lanes) {
        const auto found = iterators.find(lane.axis);
        if (found != iterators.end()) packing.push_back({found->second, lane.factor});
    }
    return packing;
}

class Packings {
public:
    Packings(const Definition& definition, const std::vector<machine::ComputeUnit>& units)
        : definition_(definition) {
        for (const machine::ComputeUnit& unit : units) {
            if (unit.operands.size() != 3) continue;
            if (unit.kind == machine::UnitKind::kVector) add_vector(unit);
            if (unit.kind == machine::UnitKind::kMatrix) add_matrix(unit);
        }
    }
    std::vector<OperatorPacking> take() { return std::move(found_); }

private:
    bool is_reduction(int x) const { return definition_.iterators[static_cast<size_t>(x)].is_reduction; }

    bool occurs(int tensor, int x) const {
        const auto all = accesses(definition_, tensor);
        return std::ranges::any_of(all, [&](const auto& access) { return uses(access, x); });
    }

    /// Adds lanes along each iterator; if the unit also takes neighbours along a reduction, with these.
    void add_vector(const machine::ComputeUnit& unit) {
        const machine::OperandLanes& result = unit.operands.back();
        if (result.lanes.size() != 1) return;
        const machine::LaneAxis lanes = result.lanes.front();
        const auto neighbours = std::ranges::find_if(
            unit.operands[1].lanes, [&](const machine::LaneAxis& lane) { return lane.axis != lanes.axis; });
        const auto count = static_cast<int>(definition_.iterators.size());
        for (int x = 0; x < count; ++x) {
            if (neighbours == unit.operands[1].lanes.end()) {
                found_.push_back(
                    {std::vector<Packing>(definition_.tensors.size(), {{x, lanes.factor}}), unit.name});
                continue;
            }
            for (int k = 0; k < count && !is_reduction(x); ++k)
                if (is_reduction(k)) add_neighbours(unit, {{lanes.axis, x}, {neighbours->axis, k}});
        }
    }

    /// At least one of the tensors that both iterators run through must have the unit's type.
    void add_neighbours(const machine::ComputeUnit& unit, const std::map<char, int>& iterators) {
        OperatorPacking packing{std::vector<Packing>(definition_.tensors.size()), unit.name};
        bool is_taken = false;
        for (int t = 0; t < static_cast<int>(definition_.tensors.size()); ++t) {
            const TensorDecl& tensor = definition_.tensors[static_cast<size_t>(t)];
            const bool is_result = tensor.role == Role::kOut || tensor.role == Role::kUpdate;
            packing.tensors[static_cast<size_t>(t)] =
                packing_with(is_result ? unit.operands.back() : unit.operands[1], iterators);
            is_taken = is_taken || (!is_result && is_type_of(unit.operands[1], tensor.type) &&
                                    std::ranges::all_of(
                                        iterators, [&](const auto& axis) { return occurs(t, axis.second); }));
        }
        if (is_taken) found_.push_back(std::move(packing));
    }

    void add_matrix(const machine::ComputeUnit& unit) {
        for (const kernels::Contraction& product : kernels::contractions_of(definition_)) {
            const Read* b = product.b_operand();
            if (!b || !is_type_of(unit.operands[0], type(product.a)) ||
                !is_type_of(unit.operands[1], type(*b)))
                continue;
            for (const int m : product.m)
                for (const int n : product.n)
                    for (const int k : product.k) add_tiles(unit, product.a.tensor, b->tensor, m, n, k);
        }
    }

    void add_tiles(const machine::ComputeUnit& unit, int a, int b, int m, int n, int k) {
        const auto &of_a = unit.operands[0], &of_b = unit.operands[1], &of_c = unit.operands[2];
        std::map<char, int> iterators;
        for (const machine::OperandLanes& operand : unit.operands)
            for (const machine::LaneAxis& lane : operand.lanes)
                iterators[lane.axis] = !has_axis(of_c, lane.axis) ? k : has_axis(of_a, lane.axis) ? m : n;
        OperatorPacking packing{std::vector<Packing>(definition_.tensors.size()), unit.name};
        packing.tensors[static_cast<size_t>(a)] = packing_with(of_a, iterators);
        packing.tensors[static_cast<size_t>(b)] = packing_with(of_b, iterators);
        for (const int result : definition_.results())
            packing.tensors[static_cast<size_t>(result)] = packing_with(of_c, iterators);
        found_.push_back(std::move(packing));
    }

    ElementType type(const Read& read) const {
        return definition_.tensors[static_cast<size_t>(read.tensor)].type;
    }

    const Definition& definition_;
    std::vector<OperatorPacking> found_;
};

}  // namespace

std::optional<int> packed_axis(const Definition& definition, int tensor, int x, int64_t factor) {
    std::optional<int> axis;
    for (const std::vector<ExprPtr>& access : accesses(definition, tensor)) {
        for (size_t i = 0; i < access.size(); ++i) {
            const Along how = along(access[i], x, factor);
            if (how == Along::kSame) continue;
            const int here = static_cast<int>(i);
            if (how == Along::kApart || (axis && *axis != here)) return std::nullopt;
            axis = here;
        }
    }
    return axis;
}

Layout layout_of(const Definition& definition, int tensor, const Packing& packing,
                 const std::vector<Dim>& shape) {
    std::map<int, int64_t> together;  // of an iterator that occurs twice
    for (const PackedIterator& packed : packing)
        together.try_emplace(packed.iterator, 1).first->second *= packed.factor;
    Layout layout;
    for (const PackedIterator& packed : packing) {
        const auto axis = packed_axis(definition, tensor, packed.iterator, together.at(packed.iterator));
        if (axis) layout.lanes.push_back({*axis, packed.factor});
    }
    return simplified(layout, shape);
}

std::optional<Packing> packing_of(const Definition& definition, int tensor, const Layout& layout) {
    if (!layout.order.empty()) return std::nullopt;
    const auto all = accesses(definition, tensor);
    if (all.empty()) return std::nullopt;
    Packing packing;
    for (const Lane& lane : layout.lanes) {
        int found = -1;
        for (const int x : iterators_in(all.front()[static_cast<size_t>(lane.axis)]))
            if (packed_axis(definition, tensor, x, lane.factor) == lane.axis) found = x;
        if (found < 0) return std::nullopt;
        packing.push_back({found, lane.factor});
    }
    return packing;
}

std::vector<OperatorPacking> packings_for(const Definition& definition,
                                          const std::vector<machine::ComputeUnit>& units) {
    return Packings(definition, units).take();
}

}  // namespace tessera::rules
