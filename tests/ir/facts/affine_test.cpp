#include "ir/facts/affine.h"

#include <functional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ir/facts/digits.h"

namespace tessera::facts {
namespace {

class Affine : public ::testing::Test {
protected:
    Affine()
        : bound_(bind_unfilled(parse_definition("op none(a: 2)\nin X f32[a]\nout Y f32[a] = X\n", "none.op"),
                               {}, "none.op")) {}

    // A form and its value computed without the form.
    struct Drawn {
        Form form;
        std::function<int64_t(const std::vector<int64_t>&)> value;
    };

    Drawn draw(int depth, const Space& space, bool simplified) {
        const auto v = static_cast<int>(random_() % space.extents.size());
        const auto number = [&](int64_t low, int64_t high) {
            return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
        };
        if (depth == 0)
            return {variable_form(v), [v](const auto& point) { return point[static_cast<size_t>(v)]; }};
        const Drawn a = draw(depth - 1, space, simplified);
        const Drawn b = draw(depth - 1, space, simplified);
        const int64_t p = number(-6, 6);
        const int64_t q = number(-6, 6);
        const int64_t r = number(-20, 20);
        Form sum = add(add(scale(a.form, p, space), scale(b.form, q, space), space), constant_form(r), space);
        const auto value = [=](const std::vector<int64_t>& point) {
            return p * a.value(point) + q * b.value(point) + r;
        };
        const int64_t c = number(1, 12);
        switch (random_() % 3) {
            case 0:
                return {sum, value};
            case 1:
                return {simplified ? quotient(sum, c, space) : raw_quotient(sum, c), [=](const auto& point) {
                            const int64_t x = value(point);
                            return (x - ((x % c) + c) % c) / c;
                        }};
            default:
                return {simplified ? remainder(sum, c, space) : raw_remainder(sum, c),
                        [=](const auto& point) { return ((value(point) % c) + c) % c; }};
        }
    }

    static void for_all_points(const std::vector<int64_t>& extents,
                               const std::function<void(const std::vector<int64_t>&)>& visit) {
        std::vector<int64_t> point(extents.size(), 0);
        while (true) {
            visit(point);
            size_t i = point.size();
            while (i > 0 && ++point[i - 1] == extents[i - 1]) point[--i] = 0;
            if (i == 0) return;
        }
    }

    BoundDefinition bound_;
    std::mt19937_64 random_{11};
};

TEST_F(Affine, SimplificationKeepsEveryValueAndBound) {
    for (int round = 0; round < 600; ++round) {
        const Space space{
            &bound_, {1 + static_cast<int64_t>(random_() % 9), 1 + static_cast<int64_t>(random_() % 7), 4}};
        const Drawn drawn = draw(1 + round % 3, space, true);
        const Bounds within = bounds(drawn.form, space);
        for_all_points(space.extents, [&](const std::vector<int64_t>& point) {
            const int64_t value = drawn.value(point);
            ASSERT_EQ(evaluate(drawn.form, point, space), value) << "round " << round;
            ASSERT_LE(within.low, value);
            ASSERT_GE(within.high, value);
        });
    }
}

TEST_F(Affine, AlignedDigitsLeaveNoDivision) {
    const Space space{&bound_, {96, 7}};
    const Form k = variable_form(0);
    Component component{space,
                        {raw_quotient(k, 32), raw_remainder(raw_quotient(k, 4), 8), raw_remainder(k, 4)}};
    const auto parts = split_into_digits(component);
    ASSERT_EQ(parts.size(), 1U);
    for (const Form& form : parts[0].forms) {
        ASSERT_EQ(form.terms.size(), 1U);
        EXPECT_TRUE(std::holds_alternative<Variable>(form.terms[0].atom->node));
    }
}

// The images before and after fusing and splitting are the same sets of coordinate vectors.
TEST_F(Affine, FusingAndSplittingKeepTheImage) {
    for (int round = 0; round < 400; ++round) {
        const Space space{
            &bound_, {1 + static_cast<int64_t>(random_() % 13), 1 + static_cast<int64_t>(random_() % 6)}};
        const Drawn x = draw(1 + round % 2, space, false);
        const Drawn y = draw(1 + round % 2, space, false);
        std::set<std::pair<int64_t, int64_t>> want;
        for_all_points(space.extents,
                       [&](const auto& point) { want.emplace(x.value(point), y.value(point)); });
        std::set<std::pair<int64_t, int64_t>> got;
        for (const Component& part : split_into_digits(fuse_variables({space, {x.form, y.form}})))
            for_all_points(part.space.extents, [&](const auto& point) {
                got.emplace(evaluate(part.forms[0], point, part.space),
                            evaluate(part.forms[1], point, part.space));
            });
        ASSERT_EQ(got, want) << "round " << round;
    }
}

}  // namespace
}  // namespace tessera::facts
