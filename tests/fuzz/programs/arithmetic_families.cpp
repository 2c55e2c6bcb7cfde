// Maps that compute: each element of the result from elements of the operands.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/draft.h"
#include "ir/random_parts.h"

namespace tessera::fuzz {
namespace {

std::vector<DrawnIterator> drawn_iterators(const Draft& draft, const Shape& shape) {
    std::vector<DrawnIterator> all;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        all.push_back({fmt::format("i{}", axis), "", draft.extent_of(shape[axis]), false, false});
    return all;
}

/// The dice of random definitions, which are one choice here.
Dice dice_of(Draft& draft) {
    return Dice(static_cast<uint64_t>(draft.choices.below(1 << 20)));
}

std::string result_type(Draft& draft, bool is_integer) {
    if (is_integer && !draft.choices.chance(40)) {
        if (draft.choices.chance(90)) return "i8";
        return draft.choices.chance(50) ? "i32" : "u8";
    }
    if (draft.choices.chance(8)) return "i8";
    return std::string(name(draft.float_type()));
}

/// Operands of a map over `shape`: the value itself, and others that have all its axes or some of them.
struct Operands {
    std::string declarations;
    std::vector<std::string> names;
    std::vector<ValueId> values;
    bool are_integers = true;

    void add(Draft& draft, ValueId value, const std::vector<std::string>& at) {
        const ElementType type = draft[value].type.element;
        names.push_back(fmt::format("X{}", names.size()));
        declarations += fmt::format("in {} {}[{}]\n", names.back(), name(type), fmt::join(at, ", "));
        values.push_back(value);
        are_integers = are_integers && is_integer(type);
    }
};

void add_operand_of(Draft& draft, const Shape& shape, ElementType type, Operands& operands) {
    Shape some;
    std::vector<std::string> at;
    const bool is_whole = draft.choices.chance(60);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (!is_whole && draft.choices.chance(50)) continue;
        some.push_back(shape[axis]);
        at.push_back(fmt::format("i{}", axis));
    }
    if (some.empty()) return;
    operands.add(draft, draft.operand(type, some), at);
}

std::optional<Operands> draw_operands(Draft& draft, int64_t most, Shape& shape) {
    const auto value = draft.any_of_rank(1, 3);
    if (!value) return {};
    shape = draft[*value].type.shape;
    Operands operands;
    operands.add(draft, *value, coordinate_list(shape.size()));
    const ElementType type = draft[*value].type.element;
    const bool is_whole = is_integer(type) && bits(type) >= 8;
    for (int64_t i = draft.choices.between(1, most); i > 1; --i)
        add_operand_of(draft, shape, is_whole && draft.choices.chance(70) ? type : draft.any_type(),
                       operands);
    return operands;
}

bool add_map(Draft& draft, const Shape& shape, const Operands& operands, const std::string& type,
             const std::string& body, const std::string& where = "") {
    return draft.add(fmt::format("op {}({})\n{}out Y {}[{}] = {}\n{}", draft.kind, iterators(shape),
                                 operands.declarations, type, coordinates(shape.size()), body, where),
                     operands.values);
}

/// A random body of one to three operands.
bool map(Draft& draft) {
    Shape shape;
    const auto operands = draw_operands(draft, 3, shape);
    if (!operands) return false;
    Dice dice = dice_of(draft);
    const auto over = drawn_iterators(draft, shape);
    const std::string body = draw_body(dice, operands->names, over, operands->are_integers);
    const std::string where =
        draft.choices.chance(12) ? fmt::format("where {}\n", draw_predicate(dice, over, {})) : "";
    return add_map(draft, shape, *operands, result_type(draft, operands->are_integers), body, where);
}

/// One operation alone, where its ends lie: nothing keeps it from NaN and infinities.
bool one_function(Draft& draft) {
    Shape shape;
    const auto operands = draw_operands(draft, 1, shape);
    if (!operands) return false;
    const std::string body = draft.choices.pick<std::string>({"-X0",
                                                              "abs(X0)",
                                                              "exp(X0)",
                                                              "log(X0)",
                                                              "sqrt(X0)",
                                                              "rsqrt(X0)",
                                                              "tanh(X0)",
                                                              "erf(X0)",
                                                              "sigmoid(X0)",
                                                              "round(X0)",
                                                              "1 / X0",
                                                              "X0 * X0",
                                                              "max(X0, 0)",
                                                              "min(X0, 0)",
                                                              "max(0, X0)",
                                                              "select(X0 > 0, X0, X0 * 0.01)",
                                                              "X0 * 0.5 * (1 + erf(X0 * 0.7071067811865476))",
                                                              "X0 * sigmoid(X0)",
                                                              "exp(-abs(X0))",
                                                              "X0 - X0",
                                                              "X0 * 0",
                                                              "X0 / X0"});
    return add_map(draft, shape, *operands, std::string(name(draft.float_type())), body);
}

bool two_values(Draft& draft) {
    Shape shape;
    const auto operands = draw_operands(draft, 2, shape);
    if (!operands || operands->names.size() != 2) return false;
    const std::string body = draft.choices.pick<std::string>(
        {"X0 + X1", "X0 - X1", "X0 * X1", "X0 / X1", "min(X0, X1)", "max(X0, X1)", "min(X1, X0)",
         "select(X0 < X1, X0, X1)", "select(X0 <= X1 or X1 != X1, 1, 0)", "select(X0 == X1, X0, -X1)",
         "select(not (X0 >= X1 and X1 > 0), X1, X0)", "max(min(X0, X1), -X1)"});
    return add_map(draft, shape, *operands, result_type(draft, operands->are_integers), body);
}

/// Numbers of other kinds beside the elements: iterators, large and tiny literals, infinity.
bool literals(Draft& draft) {
    Shape shape;
    const auto operands = draw_operands(draft, 1, shape);
    if (!operands) return false;
    const std::string body = draft.choices.pick<std::string>(
        {"X0 + i0", "X0 * 1e-30", "max(X0, -1e30)", "min(X0, 1e-40)", "select(X0 > 1e30, 0, X0)",
         "min(max(X0, -inf), inf)", "select(i0 * 100000000 > 2200000000, X0, 1)", "X0 * 0.1 + 0.3",
         "select(i0 * 65537 mod 7 < 3, X0, -X0)", "X0 - 65504 + 65504", "select(i0 < 2147483647, X0, 0)",
         "X0 + 1 - 1", "X0 / 3", "max(X0, -0.0)", "X0 + 0", "X0 * 1"});
    return add_map(draft, shape, *operands, result_type(draft, operands->are_integers), body);
}

/// Integers, of both signs: everything here is exact.
bool whole_numbers(Draft& draft) {
    const auto value =
        draft.any([](const Value& v) { return is_integer(v.type.element) && bits(v.type.element) >= 8; });
    ElementType type = draft.choices.chance(90)   ? ElementType::kI8
                       : draft.choices.chance(50) ? ElementType::kU8
                                                  : ElementType::kI32;
    if (value) type = draft[*value].type.element;
    const Shape shape = value ? draft[*value].type.shape : Shape{draft.extent(), draft.extent()};
    Operands operands;
    operands.add(draft, value ? *value : draft.operand(type, shape), coordinate_list(shape.size()));
    operands.add(draft, draft.operand(type, shape), coordinate_list(shape.size()));
    const std::string body = fmt::format(
        fmt::runtime(draft.choices.pick<std::string>(
            {"X0 + X1", "X0 - X1", "X0 div {0} + X1", "(X0 + X1) mod {0}", "X0 mod -{0} + X1",
             "(X0 - X1) div -{0}", "max(X0, X1) - {0}", "abs(X0) * 3 - X1", "select(X0 mod 2 == 1, X1, i0)",
             "(X0 - {0}) * (X1 + 1)", "min(X0, X1) mod {0} * i0", "X0 * 1000 + X1"})),
        draft.choices.between(2, 7));
    return add_map(draft, shape, operands, result_type(draft, true), body);
}

bool cast(Draft& draft) {
    Shape shape;
    const auto operands = draw_operands(draft, 1, shape);
    if (!operands) return false;
    const std::string body = draft.choices.pick<std::string>({"X0", "X0", "f16(X0)", "bf16(X0)", "i8(X0)",
                                                              "u8(X0)", "i8(round(X0 * 16))", "i32(X0 * 3)",
                                                              "f32(f16(X0)) + 1", "bf16(X0 * X0)"});
    return add_map(draft, shape, *operands, result_type(draft, draft.choices.chance(30)), body);
}

/// An operator of the program once more, under another name: its result is equal.
bool again(Draft& draft) {
    const auto& nodes = draft.program.graph.blocks.front().nodes;
    std::vector<const Node*> found;
    for (const Node& node : nodes)
        if (!node.previous && node.results.size() == 1) found.push_back(&node);
    if (found.empty()) return false;
    const Node node = *draft.choices.pick(found);
    std::string text = print(*node.definition());
    if (!node.definition()->dims.empty()) {
        const size_t at = text.find("\ndim ");
        text.erase(at, text.find('\n', at + 1) - at);
    }
    return draft.add(text, node.operands);
}

}  // namespace

const std::vector<NamedFamily>& arithmetic_families() {
    static const std::vector<NamedFamily> kAll = {
        {"map", map, 10},         {"function", one_function, 5},       {"pair", two_values, 5},
        {"literal", literals, 4}, {"whole_numbers", whole_numbers, 3}, {"cast", cast, 4},
        {"again", again, 2}};
    return kAll;
}

}  // namespace tessera::fuzz
