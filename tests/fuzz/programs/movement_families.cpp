// Nodes that move elements and compute nothing: their results are compared bit by bit.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/draft.h"
#include "ir/ops/define.h"

namespace tessera::fuzz {
namespace {

/// Y[..] = X[coordinates], where `shape` are the extents of Y.
bool add_move(Draft& draft, ValueId from, const Shape& shape, const std::vector<std::string>& at,
              const std::string& where = "") {
    const TensorType type = draft[from].type;
    return draft.add(fmt::format("op {0}({1})\nin X {2}[{3}] of {4}\nout Y {2}[{5}] = X\n{6}", draft.kind,
                                 iterators(shape), name(type.element), fmt::join(at, ", "),
                                 shape_text(type.shape), coordinates(shape.size()), where),
                     {from});
}

struct Chosen {
    ValueId value;
    size_t axis;
    Dim extent;  ///< of the axis
    Shape shape;
};

/// A value, and one of its axes.
std::optional<Chosen> value_and_axis(Draft& draft, bool is_constant) {
    const auto value = draft.any_of_rank(1, 3);
    if (!value) return {};
    const Shape shape = draft[*value].type.shape;
    const auto axis = static_cast<size_t>(draft.choices.below(std::ssize(shape)));
    if (is_constant && !shape[axis].is_constant()) return {};
    return Chosen{*value, axis, shape[axis], shape};
}

/// The axis has another extent and is found at `component`, where {} is its iterator.
bool move_along(Draft& draft, const Chosen& chosen, const Dim& extent, const std::string& component) {
    Shape shape = chosen.shape;
    shape[chosen.axis] = extent;
    std::vector<std::string> at = coordinate_list(shape.size());
    at[chosen.axis] = fmt::format(fmt::runtime(component), at[chosen.axis]);
    return add_move(draft, chosen.value, shape, at);
}

bool transpose(Draft& draft) {
    const auto value = draft.any_of_rank(2, 4);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<size_t>(draft.choices.below(static_cast<int64_t>(i)))]);
    Shape moved;
    std::vector<std::string> at(shape.size());
    for (size_t axis = 0; axis < order.size(); ++axis) {
        moved.push_back(shape[order[axis]]);
        at[order[axis]] = fmt::format("i{}", axis);
    }
    return add_move(draft, *value, moved, at);
}

bool broadcast(Draft& draft) {
    const auto value = draft.any_of_rank(1, 3);
    if (!value) return false;
    Shape shape = draft[*value].type.shape;
    const int64_t axis = draft.choices.between(0, std::ssize(shape));
    shape.insert(shape.begin() + axis, draft.extent());
    std::vector<std::string> at = coordinate_list(shape.size());
    at.erase(at.begin() + axis);
    return add_move(draft, *value, shape, at);
}

bool merge(Draft& draft) {
    const auto value = draft.any_of_rank(2, 4);
    if (!value) return false;
    const TensorType type = draft[*value].type;
    const auto axis = static_cast<size_t>(draft.choices.below(std::ssize(type.shape) - 1));
    const Dim inner = type.shape[axis + 1];
    if (!inner.is_constant()) return false;
    Shape shape = type.shape;
    shape[axis].factor *= inner.factor;
    shape.erase(shape.begin() + static_cast<int64_t>(axis) + 1);
    if (draft.choices.chance(50)) {
        std::vector<std::string> at = coordinate_list(shape.size());
        const std::string x = at[axis];
        at[axis] = fmt::format("{} div {}", x, inner.factor);
        at.insert(at.begin() + static_cast<int64_t>(axis) + 1, fmt::format("{} mod {}", x, inner.factor));
        return add_move(draft, *value, shape, at);
    }
    std::vector<std::string> to = coordinate_list(type.shape.size());
    to[axis] = fmt::format("{} * {} + {}", to[axis], inner.factor, to[axis + 1]);
    to.erase(to.begin() + static_cast<int64_t>(axis) + 1);
    return draft.add(fmt::format("op merge({0})\nin X {1}[{2}]\nout Y {1}[{3}] of {4} = X\n",
                                 iterators(type.shape), name(type.element), coordinates(type.shape.size()),
                                 fmt::join(to, ", "), shape_text(shape)),
                     {*value});
}

bool split(Draft& draft) {
    const auto chosen = value_and_axis(draft, true);
    if (!chosen) return false;
    const int64_t n = chosen->extent.factor;
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= n; ++d)
        if (n % d == 0) divisors.push_back(d);
    const int64_t inner = draft.choices.pick(divisors);
    Shape shape = chosen->shape;
    shape[chosen->axis] = n / inner;
    shape.insert(shape.begin() + static_cast<int64_t>(chosen->axis) + 1, inner);
    std::vector<std::string> at = coordinate_list(shape.size());
    at[chosen->axis] = fmt::format("{} * {} + {}", at[chosen->axis], inner, at[chosen->axis + 1]);
    at.erase(at.begin() + static_cast<int64_t>(chosen->axis) + 1);
    return add_move(draft, chosen->value, shape, at);
}

bool slice(Draft& draft) {
    const auto chosen = value_and_axis(draft, true);
    if (!chosen) return false;
    const int64_t n = chosen->extent.factor;
    const int64_t begin = draft.choices.below(n), step = draft.choices.between(1, 3);
    const int64_t count = draft.choices.between(1, (n - begin - 1) / step + 1);
    return move_along(draft, *chosen, count, fmt::format("{} * {{}} + {}", step, begin));
}

bool flip(Draft& draft) {
    const auto chosen = value_and_axis(draft, false);
    if (!chosen) return false;
    return move_along(draft, *chosen, chosen->extent,
                      fmt::format("{} - 1 - {{}}", ops::text(chosen->extent)));
}

bool pad(Draft& draft) {
    const auto chosen = value_and_axis(draft, true);
    if (!chosen) return false;
    const int64_t before = draft.choices.below(4), behind = draft.choices.below(4);
    return move_along(draft, *chosen, chosen->extent.factor + before + behind,
                      fmt::format("{{}} - {}", before));
}

bool window(Draft& draft) {
    const auto chosen = value_and_axis(draft, false);
    if (!chosen) return false;
    const int64_t width = draft.choices.between(1, 4), before = draft.choices.below(width);
    Shape shape = chosen->shape;
    shape.insert(shape.begin() + static_cast<int64_t>(chosen->axis) + 1, width);
    std::vector<std::string> at = coordinate_list(shape.size());
    at[chosen->axis] = fmt::format("{} + {} - {}", at[chosen->axis], at[chosen->axis + 1], before);
    at.erase(at.begin() + static_cast<int64_t>(chosen->axis) + 1);
    return add_move(draft, chosen->value, shape, at);
}

bool roll(Draft& draft) {
    const auto chosen = value_and_axis(draft, true);
    if (!chosen) return false;
    const int64_t n = chosen->extent.factor;
    return move_along(draft, *chosen, n, fmt::format("({{}} + {}) mod {}", draft.choices.below(n), n));
}

bool repeat(Draft& draft) {
    const auto chosen = value_and_axis(draft, false);
    if (!chosen) return false;
    Dim extent = chosen->extent;
    const int64_t times = draft.choices.between(1, 3);
    extent.factor *= times;
    const bool is_tiled = chosen->extent.is_constant() && draft.choices.chance(50);
    return move_along(
        draft, *chosen, extent,
        is_tiled ? fmt::format("{{}} mod {}", chosen->extent.factor) : fmt::format("{{}} div {}", times));
}

bool concatenation(Draft& draft) {
    const auto chosen = value_and_axis(draft, true);
    if (!chosen) return false;
    Shape other = chosen->shape, shape = other;
    const Dim more = draft.extent();
    if (!more.is_constant()) return false;
    other[chosen->axis] = more;
    const int64_t n = chosen->extent.factor;
    shape[chosen->axis] = n + more.factor;
    const ElementType type = draft[chosen->value].type.element;
    if (bits(type) < 8) return false;  // no array holds the other one
    const ValueId second = draft.operand(type, other);
    std::vector<std::string> at = coordinate_list(shape.size());
    const std::string x = at[chosen->axis];
    at[chosen->axis] = fmt::format("{} - {}", x, n);
    return draft.add(
        fmt::format("op concatenation({0})\nin A {1}[{2}] of {3}\nin B {1}[{4}] of {5}\nout Y {1}[{2}] = "
                    "select({6} < {7}, A, B)\n",
                    iterators(shape), name(type), coordinates(shape.size()), shape_text(chosen->shape),
                    fmt::join(at, ", "), shape_text(other), x, n),
        {chosen->value, second});
}

bool masked_copy(Draft& draft) {
    const auto value = draft.any_of_rank(1, 3);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    std::vector<std::string> predicates = {"i0 mod 3 != 1", "i0 > 0"};
    if (shape.size() > 1) {
        predicates.emplace_back("i1 <= i0");
        predicates.emplace_back("(i0 + i1) mod 2 == 0 and not i0 == 1");
    }
    return add_move(draft, *value, shape, coordinate_list(shape.size()),
                    fmt::format("where {}\n", draft.choices.pick(predicates)));
}

bool diagonal(Draft& draft) {
    const auto value = draft.any([](const Value& v) {
        return v.type.shape.size() == 2 && v.type.shape[0].is_constant() && v.type.shape[1].is_constant();
    });
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    return add_move(draft, *value, {std::min(shape[0].factor, shape[1].factor)}, {"i0", "i0"});
}

bool copy(Draft& draft) {
    const auto value = draft.any_of_rank(1, 3);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    return add_move(draft, *value, shape, coordinate_list(shape.size()));
}

}  // namespace

const std::vector<NamedFamily>& movement_families() {
    static const std::vector<NamedFamily> kAll = {
        {"copy", copy, 2},           {"transpose", transpose, 5},
        {"broadcast", broadcast, 3}, {"merge", merge, 4},
        {"split", split, 4},         {"slice", slice, 4},
        {"flip", flip, 3},           {"pad", pad, 3},
        {"window", window, 3},       {"roll", roll, 3},
        {"repeat", repeat, 3},       {"concatenation", concatenation, 4},
        {"masked", masked_copy, 3},  {"diagonal", diagonal, 1}};
    return kAll;
}

}  // namespace tessera::fuzz
