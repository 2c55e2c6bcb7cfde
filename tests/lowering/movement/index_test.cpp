#include "lowering/movement/index.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace tessera::movement {
namespace {

using Values = std::map<std::string, int64_t>;

int64_t floored(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// The value of an Index, from its terms; the oracle for a chain of operations is computed beside it.
int64_t evaluate(const Index& index, const Values& values) {
    int64_t result = index.constant();
    for (const Index::Term& term : index.terms()) {
        const Index::Atom& atom = *term.atom;
        const auto argument = [&](size_t i) { return evaluate(atom.arguments[i], values); };
        int64_t value = 0;
        switch (atom.kind) {
            case Index::AtomKind::kVariable:
                value = values.at(atom.variable.name);
                break;
            case Index::AtomKind::kFloorDiv:
                value = floored(argument(0), atom.modulus);
                break;
            case Index::AtomKind::kMod:
                value = argument(0) - floored(argument(0), atom.modulus) * atom.modulus;
                break;
            case Index::AtomKind::kProduct:
                value = argument(0) * argument(1);
                break;
            case Index::AtomKind::kMin:
                value = std::min(argument(0), argument(1));
                break;
            case Index::AtomKind::kMax:
                value = std::max(argument(0), argument(1));
                break;
            case Index::AtomKind::kRead:
                ADD_FAILURE();
                break;
        }
        result += term.coefficient * value;
    }
    return result;
}

Index variable(const char* name, int64_t low, int64_t high, int64_t multiple_of = 1) {
    return Index::variable({name, {low, high}, multiple_of});
}

TEST(Index, ALaneOfAnAlignedGroupStaysInItsPage) {
    const Index s = variable("q", 0, 1008, 16) + variable("l", 0, 15);
    EXPECT_EQ(print(floor_div(s, 16)), "(q div 16)");
    EXPECT_EQ(print(mod(s, 16)), "l");
}

TEST(Index, ASplitAxisReadInItsHalvesKeepsItsLanes) {
    const Index d = variable("d", 0, 16, 16) + variable("l", 0, 15);
    const Index other_half = mod(d + Index(16), 32);
    EXPECT_EQ(other_half.coefficient("l"), 1);
}

TEST(Index, MergedHeadsAreContiguous) {
    const Index c = variable("c", 0, 127);
    EXPECT_EQ(print(floor_div(c, 32) * Index(32) + mod(c, 32)), "c");
}

TEST(Index, ALoneValueIsAConstant) {
    EXPECT_EQ(variable("b", 3, 3).as_constant(), 3);
}

TEST(Index, AVariableInsideADivisionHasNoCoefficient) {
    const Index x = variable("x", 0, 100);
    EXPECT_EQ(floor_div(x, 7).coefficient("x"), std::nullopt);
    EXPECT_EQ((x * Index(3)).coefficient("x"), 3);
    EXPECT_EQ((x * Index(3)).coefficient("y"), 0);
}

TEST(Index, LimitsThatAreKnownVanish) {
    const Index x = variable("x", 0, 7);
    EXPECT_EQ(print(min(x, Index(8))), "x");
    EXPECT_EQ(print(max(x, Index(0))), "x");
    EXPECT_EQ(print(min(x, x + Index(1))), "x");
}

TEST(Index, ElementsOfAnIndexOperandMayBeNegative) {
    const Index id = Index::read("id", variable("t", 0, 9));
    EXPECT_EQ(id.bounds(), (Bounds{INT32_MIN, INT32_MAX}));
    EXPECT_EQ(print(mod(id, 8)), "(id[t] mod 8)");
    EXPECT_EQ(print(floor_div(id, 3)), "(id[t] div 3)");
    EXPECT_EQ(mod(id, 8).bounds(), (Bounds{0, 7}));
    EXPECT_EQ(mod(id, -8).bounds(), (Bounds{-7, 0}));
    EXPECT_EQ(print(floor_div(id, 16) * Index(16) + mod(id, 16)), "id[t]");
}

TEST(Index, IsItsNormalForm) {
    const Index x = variable("x", 0, 7), y = variable("y", 0, 9);
    EXPECT_EQ(x + y, y + x);
    EXPECT_EQ(x * y, y * x);
    EXPECT_EQ(x - x, Index(0));
    EXPECT_NE(floor_div(x + y, 3), floor_div(x + y, 4));
    EXPECT_NE(Index::read("a", x), Index::read("b", x));
    EXPECT_EQ(variable("x", 0, 3), x) << "variables of one name are one";
    EXPECT_EQ((x < y) + (y < x), 1) << "an order of normal forms";
    EXPECT_EQ(print(y * x), "(x * y)") << "texts are alphabetical, whatever that order is";
}

/// Random chains of operations: the normal form has the value of the chain, and lies within its bounds and on
/// its divisor.
TEST(Index, NormalFormKeepsValueBoundsAndDivisor) {
    std::mt19937 random(7);
    const auto pick = [&](int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    for (int round = 0; round < 3000; ++round) {
        std::vector<Variable> variables;
        for (const char* name : {"a", "b", "c"}) {
            const int64_t multiple = int64_t{1} << pick(0, 4);
            const int64_t low = pick(-2, 2) * multiple;
            variables.push_back({name, {low, low + pick(0, 6) * multiple}, multiple});
        }
        using Function = std::function<int64_t(const Values&)>;
        std::vector<std::pair<Index, Function>> pool;
        for (const Variable& v : variables) {
            pool.emplace_back(Index::variable(v), [name = v.name](const Values& x) { return x.at(name); });
        }
        for (int step = 0; step < 7; ++step) {
            const auto [a, fa] = pool[static_cast<size_t>(pick(0, static_cast<int64_t>(pool.size()) - 1))];
            const auto [b, fb] = pool[static_cast<size_t>(pick(0, static_cast<int64_t>(pool.size()) - 1))];
            const int64_t n = pick(0, 1) ? int64_t{1} << pick(0, 5) : pick(1, 24);
            switch (pick(0, 6)) {
                case 0:
                    pool.emplace_back(a + b, [fa, fb](const Values& x) { return fa(x) + fb(x); });
                    break;
                case 1:
                    pool.emplace_back(a - b, [fa, fb](const Values& x) { return fa(x) - fb(x); });
                    break;
                case 2:
                    pool.emplace_back(a * Index(n), [fa, n](const Values& x) { return fa(x) * n; });
                    break;
                case 3: {
                    const int64_t by = pick(0, 3) == 0 ? -n : n;
                    pool.emplace_back(floor_div(a, by),
                                      [fa, by](const Values& x) { return floored(fa(x), by); });
                    break;
                }
                case 4: {
                    const int64_t by = pick(0, 3) == 0 ? -n : n;
                    pool.emplace_back(mod(a, by),
                                      [fa, by](const Values& x) { return fa(x) - floored(fa(x), by) * by; });
                    break;
                }
                case 5:
                    pool.emplace_back(min(a, b),
                                      [fa, fb](const Values& x) { return std::min(fa(x), fb(x)); });
                    break;
                default:
                    pool.emplace_back(a + Index(n), [fa, n](const Values& x) { return fa(x) + n; });
                    break;
            }
        }
        for (int sample = 0; sample < 8; ++sample) {
            Values values;
            for (const Variable& v : variables) {
                values[v.name] =
                    v.bounds.low + pick(0, (v.bounds.high - v.bounds.low) / v.multiple_of) * v.multiple_of;
            }
            for (const auto& [index, function] : pool) {
                const int64_t want = function(values);
                ASSERT_EQ(evaluate(index, values), want) << print(index);
                ASSERT_GE(want, index.bounds().low) << print(index);
                ASSERT_LE(want, index.bounds().high) << print(index);
                if (index.divisor() != 0) {
                    ASSERT_EQ(want % index.divisor(), 0) << print(index);
                }
                const Index replaced = index.substitute("a", Index(values.at("a")));
                ASSERT_EQ(evaluate(replaced, values), want) << print(replaced);
            }
        }
    }
}

}  // namespace
}  // namespace tessera::movement
