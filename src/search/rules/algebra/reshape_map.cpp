// A group is read by its row-major position: the axes of the result give the number of the element, and the
// axes of the operand are its digits.
//
//     [4, 6] as [2, 12]:   position = 12 i0 + i1,   element [position div 6, position mod 6]
#include "search/rules/algebra/reshape_map.h"

#include "support/checked.h"

namespace tessera::rules {
namespace {

std::optional<Dim> product(const Dim& a, const Dim& b) {
    if (a.symbol && b.symbol) return {};
    const auto factor = checked_mul(a.factor, b.factor);
    if (!factor) return {};
    const std::optional<std::string>& symbol = a.symbol ? a.symbol : b.symbol;
    return symbol ? Dim(*symbol, *factor) : Dim(*factor);
}

/// True if the first product must grow by the next axis to match the other one, rather than the reverse.
bool is_behind(const Dim& a, const Dim& b) {
    return a.symbol.has_value() == b.symbol.has_value() ? a.factor < b.factor : !a.symbol;
}

/// The stride of each axis of a group, in elements. Empty if it depends on a symbol.
std::optional<std::vector<int64_t>> strides(const std::vector<Dim>& shape, size_t first, size_t last) {
    std::vector<int64_t> result(last - first, 1);
    int64_t stride = 1;
    for (size_t axis = last; axis-- > first;) {
        result[axis - first] = stride;
        if (axis == first) break;
        const auto next = checked_mul(stride, shape[axis].factor);
        if (shape[axis].symbol || !next) return {};
        stride = *next;
    }
    return result;
}

ExprPtr sum_of(const ExprPtr& a, const ExprPtr& b) {
    return a ? apply(Function::kAdd, {a, b}) : b;
}

}  // namespace

std::optional<std::vector<ReshapeGroup>> reshape_groups(const std::vector<Dim>& from,
                                                        const std::vector<Dim>& to) {
    std::vector<ReshapeGroup> groups;
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
        ReshapeGroup group{i, i, j, j};
        std::optional<Dim> have = Dim(1), want = Dim(1);
        if (i < from.size()) have = from[i++];
        if (j < to.size()) want = to[j++];
        while (have && want && *have != *want) {
            if (is_behind(*have, *want)) {
                if (i == from.size()) return {};
                have = product(*have, from[i++]);
            } else {
                if (j == to.size()) return {};
                want = product(*want, to[j++]);
            }
        }
        if (!have || !want) return {};
        group.from_last = i;
        group.to_last = j;
        groups.push_back(group);
    }
    return groups;
}

std::optional<std::vector<ExprPtr>> reshape_map(const std::vector<Dim>& from, const std::vector<Dim>& to) {
    const auto groups = reshape_groups(from, to);
    if (!groups) return {};
    std::vector<ExprPtr> map;
    for (const ReshapeGroup& group : *groups) {
        const auto read = strides(from, group.from_first, group.from_last);
        const auto written = strides(to, group.to_first, group.to_last);
        if (!read || !written) return {};
        ExprPtr position;
        for (size_t axis = group.to_first; axis < group.to_last; ++axis) {
            if (to[axis] == Dim(1)) continue;
            const ExprPtr x = iterator_ref(static_cast<int>(axis));
            const int64_t stride = (*written)[axis - group.to_first];
            position = sum_of(position, stride == 1 ? x : apply(Function::kMul, {x, number(stride)}));
        }
        bool is_outermost = true;  // no digit above: no remainder
        for (size_t axis = group.from_first; axis < group.from_last; ++axis) {
            if (from[axis] == Dim(1)) {
                map.push_back(number(0));
                continue;
            }
            const int64_t stride = (*read)[axis - group.from_first];
            ExprPtr digit = stride == 1 ? position : apply(Function::kFloorDiv, {position, number(stride)});
            if (!is_outermost) digit = apply(Function::kMod, {digit, number(from[axis].factor)});
            map.push_back(std::move(digit));
            is_outermost = false;
        }
    }
    return map;
}

}  // namespace tessera::rules
