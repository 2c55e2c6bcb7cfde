#include "ir/random_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera {
namespace {

std::string read_of(Dice& dice, const DrawnIndex& index) {
    // The zoo's reference does not see the iterators of a declared map in a bare name, so results need
    // coordinates.
    return dice.chance(40) ? index.name : fmt::format("{}[{}]", index.name, joined(index.map, ", "));
}

std::string literal(Dice& dice, bool is_integer) {
    static const std::vector<std::string> kIntegers = {"2", "3", "5", "-1", "-2"};
    static const std::vector<std::string> kReals = {"0.5", "2.5", "-0.75", "1e-3", "3"};
    return dice.pick(is_integer ? kIntegers : kReals);
}

std::string cast_of(Dice& dice, const std::string& expr) {
    static const std::vector<std::string> kTypes = {"f32", "f32", "f16", "bf16", "i32", "i8", "u8", "i4"};
    return fmt::format("{}({})", dice.pick(kTypes), expr);
}

/// Operations of one argument that are defined for every number.
std::string draw_unary(Dice& dice, const std::string& x, bool is_integer) {
    if (is_integer) {
        switch (dice.below(5)) {
            case 0:
                return fmt::format("i32({})", x);
            case 1:
                return fmt::format("abs({})", x);
            case 2:
                return fmt::format("-({})", x);
            case 3:
                return fmt::format("(({}) mod {})", x, dice.between(2, 7));
            default:
                return fmt::format("(({}) div {})", x, dice.between(2, 7));
        }
    }
    switch (dice.below(14)) {
        case 0:
            return fmt::format("exp(min({}, 3))", x);
        case 1:
            return fmt::format("log(abs({}) + 1)", x);
        case 2:
            return fmt::format("sqrt(abs({}))", x);
        case 3:
            return fmt::format("rsqrt(abs({}) + 0.5)", x);
        case 4:
            return fmt::format("tanh({})", x);
        case 5:
            return fmt::format("erf({})", x);
        case 6:
            return fmt::format("sigmoid({})", x);
        case 7:
            return fmt::format("abs({})", x);
        case 8:
            return fmt::format("round({} * 3)", x);
        case 9:
            return fmt::format("-({})", x);
        case 10:
            return fmt::format("max({}, 0)", x);
        case 11:
            return fmt::format("(({}) * {})", x, literal(dice, false));
        default:
            return cast_of(dice, x);
    }
}

std::string draw_binary(Dice& dice, const std::string& a, const std::string& b, bool is_integer) {
    switch (dice.below(is_integer ? 6 : 8)) {
        case 0:
            return fmt::format("({} + {})", a, b);
        case 1:
            return fmt::format("({} - {})", a, b);
        case 2:
            return fmt::format("min({}, {})", a, b);
        case 3:
            return fmt::format("max({}, {})", a, b);
        case 6:
            return fmt::format("({} / (1 + abs({})))", a, b);
        case 7:
            return fmt::format("select({} < {}, {}, {})", a, b, a, b);
        default:
            return fmt::format("{} * {}", a, b);
    }
}

}  // namespace

bool is_integer_type(const std::string& type) {
    return type[0] == 'i' || type[0] == 'u';
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

DrawnComponent draw_component(Dice& dice, const std::vector<DrawnIterator>& iterators) {
    const DrawnIterator a = dice.pick(iterators);
    const DrawnIterator b = dice.pick(iterators);
    const std::string& x = a.name;
    const int64_t n = a.extent;
    const int64_t c = dice.between(2, 4);
    switch (dice.below(16)) {
        case 0:
            return {fmt::format("{} div {}", x, c), 0, (n - 1) / c};
        case 1:
            return {fmt::format("{} mod {}", x, c), 0, c - 1};
        case 2: {
            const int64_t padding = dice.below(3);
            const std::string tail = padding > 0 ? fmt::format(" - {}", padding) : "";
            return {fmt::format("{} * {} + {}{}", c - 1, x, b.name, tail), -padding,
                    (c - 1) * (n - 1) + b.extent - 1 - padding};
        }
        case 3: {
            const std::string size = a.is_dim ? a.extent_text : std::to_string(n);
            return {fmt::format("({} + {}) mod {}", x, c - 1, size), 0, n - 1};
        }
        case 4:
            return {fmt::format("{} div 2 * 2 + 1 - {} mod 2", x, x), 0, n};
        case 5: {
            const std::string size = a.is_dim ? a.extent_text : std::to_string(n);
            return {fmt::format("{} - 1 - {}", size, x), 0, n - 1};
        }
        case 6:
            return {fmt::format("({} * {} + {}) div {}", b.extent, x, b.name, c), 0, (b.extent * n - 1) / c};
        case 7:
            return {fmt::format("({} + {}) mod {}", x, b.name, c + 1), 0, c};
        case 8:
            return {fmt::format("{} + {}", x, c), c, n - 1 + c};
        case 9:
            return {fmt::format("{} div {} + {} mod {}", x, c, b.name, c), 0, (n - 1) / c + c - 1};
        case 10:
            if (dice.chance(30)) return {std::to_string(c - 1), c - 1, c - 1};
            [[fallthrough]];
        default:
            return {x, 0, n - 1};
    }
}

DrawnComponent draw_indirect_component(Dice& dice, const DrawnIndex& index) {
    const std::string value = read_of(dice, index);
    const int64_t c = dice.between(2, 4);
    switch (dice.below(5)) {
        case 0:
            return {fmt::format("{} div {}", value, c), 0, (index.limit - 1) / c, true};
        case 1:
            return {fmt::format("{} mod {}", value, c), 0, c - 1, true};
        case 2:
            return {fmt::format("{} + 1", value), 1, index.limit, true};
        default:
            return {value, 0, index.limit - 1, true};
    }
}

DrawnOperand draw_operand(Dice& dice, const std::string& name, const std::string& type,
                          const std::vector<DrawnIterator>& iterators,
                          const std::vector<DrawnIndex>& indices) {
    DrawnOperand operand{name, type, {}, {}};
    // Mostly one axis for each of some iterators, as in real operators.
    std::vector<DrawnIterator> order = iterators;
    dice.shuffle(order);
    const int64_t rank = dice.between(1, std::min<int64_t>(3, static_cast<int64_t>(order.size())));
    bool needs_shape = false;
    for (int64_t axis = 0; axis < rank; ++axis) {
        const DrawnIterator own = order[static_cast<size_t>(axis)];
        if (!indices.empty() && dice.chance(25)) {
            operand.map.push_back(draw_indirect_component(dice, dice.pick(indices)));
        } else if (dice.chance(55)) {
            operand.map.push_back({own.name, 0, own.extent - 1, false});
        } else {
            operand.map.push_back(draw_component(dice, iterators));
        }
        needs_shape |= operand.map.back().is_indirect || operand.map.back().low < 0;
    }
    if (!needs_shape && dice.chance(80)) return operand;
    for (const DrawnComponent& component : operand.map) {
        const int64_t slack = dice.chance(75) ? 0 : dice.between(-1, 2);
        operand.shape.push_back(std::to_string(std::max<int64_t>(1, component.high + 1 + slack)));
    }
    return operand;
}

std::string draw_read(Dice& dice, const DrawnOperand& operand, const std::vector<DrawnIterator>& iterators,
                      const std::vector<DrawnIndex>& indices) {
    if (dice.chance(70)) return operand.name;
    std::vector<std::string> coordinates;
    for (const DrawnComponent& declared : operand.map) {
        if (dice.chance(50)) {
            coordinates.push_back(declared.text);
        } else if (declared.is_indirect && !indices.empty()) {
            coordinates.push_back(draw_indirect_component(dice, dice.pick(indices)).text);
        } else {
            coordinates.push_back(draw_component(dice, iterators).text);
        }
    }
    return fmt::format("{}[{}]", operand.name, joined(coordinates, ", "));
}

std::string draw_body(Dice& dice, std::vector<std::string> leaves,
                      const std::vector<DrawnIterator>& iterators, bool is_integer) {
    if (dice.chance(15)) leaves.push_back(dice.pick(iterators).name);
    if (dice.chance(20)) leaves.push_back(literal(dice, is_integer));
    dice.shuffle(leaves);
    // Products of plain reads exercise linearity and units.
    if (dice.chance(45)) return joined(leaves, " * ");
    while (leaves.size() > 1) {
        const std::string last = leaves.back();
        leaves.pop_back();
        leaves.back() = draw_binary(dice, leaves.back(), last, is_integer);
        if (dice.chance(35)) leaves.back() = draw_unary(dice, leaves.back(), is_integer);
        dice.shuffle(leaves);
    }
    return dice.chance(35) ? draw_unary(dice, leaves.front(), is_integer) : leaves.front();
}

std::string draw_post(Dice& dice, const std::string& call, const std::vector<std::string>& leaves) {
    std::string post = call;
    for (const std::string& leaf : leaves)
        post = fmt::format("{} {} {}", post, dice.pick<std::string>({"+", "-", "*"}), leaf);
    switch (dice.below(leaves.empty() ? 7 : 9)) {
        case 0:
            return fmt::format("({}) * 0.35", post);
        case 1:
            return fmt::format("rsqrt(abs({}) / 4 + 1e-6)", post);
        case 2:
            return fmt::format("max({}, 0)", post);
        case 3:
            return fmt::format("tanh({})", post);
        case 4:
            return fmt::format("1 - ({})", post);
        case 5:
            return fmt::format("f16({})", post);
        case 6:
            return fmt::format("select({} > 1, 2, 3) * {}", post, literal(dice, false));
        default:
            return post;
    }
}

std::string draw_predicate(Dice& dice, const std::vector<DrawnIterator>& iterators,
                           const std::vector<DrawnIndex>& indices) {
    const DrawnIterator x = dice.pick(iterators);
    const DrawnIterator y = dice.pick(iterators);
    std::string predicate;
    switch (dice.below(5)) {
        case 0:
            predicate = fmt::format("{} <= {} + {}", x.name, y.name, dice.below(3));
            break;
        case 1:
            predicate = fmt::format("{} mod 3 != {}", x.name, dice.below(3));
            break;
        case 2:
            predicate = fmt::format("not {} + {} > {}", x.name, y.name, dice.between(1, x.extent + y.extent));
            break;
        default:
            if (indices.empty()) {
                predicate = fmt::format("{} < {}", x.name, dice.between(1, x.extent));
            } else {
                predicate = fmt::format("{} <= {}", x.name, read_of(dice, dice.pick(indices)));
            }
    }
    if (!dice.chance(25)) return predicate;
    return fmt::format("{} {} {} < {}", predicate, dice.chance(60) ? "and" : "or", y.name,
                       dice.between(1, y.extent));
}

}  // namespace tessera
