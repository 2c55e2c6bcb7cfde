// The bounds of the search against every assignment of random boxes.
#include <random>

#include <gtest/gtest.h>

#include "search/tiles/box_bounds.h"
#include "search/tiles/evaluate.h"
#include "search/tiles/propagate.h"
#include "search/tiles/random_problem.h"

namespace tessera::tiles {
namespace {

Box whole(const NormalForm& form) {
    Box box;
    for (const NormalVariable& variable : form.variables)
        box.push_back({0, static_cast<int32_t>(variable.values.size()) - 1});
    return box;
}

Box random_box(const NormalForm& form, std::mt19937& random) {
    Box box = whole(form);
    for (Range& range : box) {
        const auto size = static_cast<unsigned>(range.size());
        const auto a = static_cast<int32_t>(random() % size), b = static_cast<int32_t>(random() % size);
        range = {std::min(a, b), std::max(a, b)};
    }
    return box;
}

template <typename Each>
void for_each_assignment(const NormalForm& form, const Box& box, Each&& each) {
    Box at = box;
    for (Range& range : at) range.last = range.first;
    for (;;) {
        Assignment values;
        for (size_t v = 0; v < at.size(); ++v)
            values.push_back(form.variables[v].values[static_cast<size_t>(at[v].first)]);
        each(values);
        size_t v = 0;
        for (; v < at.size(); ++v) {
            if (++at[v].first <= box[v].last) break;
            at[v].first = box[v].first;
        }
        if (v == at.size()) return;
    }
}

bool is_in(const NormalForm& form, const Box& box, const Assignment& values) {
    for (size_t v = 0; v < box.size(); ++v) {
        const std::vector<int64_t>& domain = form.variables[v].values;
        if (values[v] < domain[static_cast<size_t>(box[v].first)] ||
            values[v] > domain[static_cast<size_t>(box[v].last)])
            return false;
    }
    return true;
}

TEST(BoxBounds, AreBelowEveryFeasibleAssignmentAndExactForOne) {
    std::mt19937 random(7);
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        const NormalForm form = normal_form(problem, {});
        if (form.is_infeasible) continue;
        BoxBounds bounds(form, seed % 2 == 0);
        const Box box = random_box(form, random);
        bounds.load(box);
        for (size_t s = 0; s < form.sums.size(); ++s) bounds.refresh(s);
        Assignment last;
        for_each_assignment(form, box, [&](const Assignment& values) {
            const Evaluation evaluation = evaluate(problem, values);
            if (!evaluation.is_feasible()) return;
            last = values;
            const size_t limited = problem.constraints.size();
            for (size_t s = 0; s < form.sums.size(); ++s) {
                const double value =
                    s < limited ? evaluation.constraints[s] : evaluation.objective[s - limited];
                ASSERT_LE(bounds.bound(s), value * (1 + 1e-12));
            }
        });
        if (last.empty()) continue;
        Box single;
        for (size_t v = 0; v < last.size(); ++v) {
            const std::vector<int64_t>& domain = form.variables[v].values;
            const auto index = static_cast<int32_t>(std::lower_bound(domain.begin(), domain.end(), last[v]) -
                                                    domain.begin());
            single.push_back({index, index});
        }
        bounds.load(single);
        const Evaluation evaluation = evaluate(problem, last);
        for (size_t o = 0; o < problem.objective.size(); ++o) {
            const size_t s = problem.constraints.size() + o;
            bounds.refresh(s);
            ASSERT_NEAR(bounds.bound(s), evaluation.objective[o], 1e-12 * evaluation.objective[o]);
        }
    }
}

TEST(BoxBounds, OfARangeEqualThoseOfTheNarrowedBox) {
    std::mt19937 random(8);
    int compared = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const NormalForm form = normal_form(RandomProblem(seed).make(), {});
        if (form.is_infeasible) continue;
        BoxBounds bounds(form, true);
        const Box box = random_box(form, random);
        bounds.load(box);
        for (size_t s = 0; s < form.sums.size(); ++s) {
            bounds.refresh(s);
            for (const Touch& touch : bounds.touches(s)) {
                const Range range = box[touch.variable];
                const Range part{range.first, range.first + (range.last - range.first) / 2};
                const double within = bounds.bound_within(s, touch, part);
                BoxBounds narrowed(form, true);
                narrowed.load(box);
                narrowed.narrow(touch.variable, part);
                narrowed.refresh(s);
                ASSERT_DOUBLE_EQ(within, narrowed.bound(s));
                ASSERT_EQ(bounds.box(), box);
                bounds.refresh(s);
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 500);
}

TEST(Propagator, LosesNoAssignmentBelowTheLimit) {
    std::mt19937 random(9);
    int narrowed = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        const NormalForm form = normal_form(problem, {});
        if (form.is_infeasible) continue;
        Propagator propagator(form, {});
        const double limit = static_cast<double>(random() % 1000);
        propagator.set_cost_limit(limit);
        const Box box = random_box(form, random);
        Box left = box;
        const std::optional<double> bound = propagator.run(left);
        narrowed += !bound || left != box ? 1 : 0;
        for_each_assignment(form, box, [&](const Assignment& values) {
            const Evaluation evaluation = evaluate(problem, values);
            if (!evaluation.is_feasible() || evaluation.cost > limit * (1 - 1e-12)) return;
            ASSERT_TRUE(bound);
            ASSERT_TRUE(is_in(form, left, values));
            ASSERT_LE(*bound, evaluation.cost * (1 + 1e-12));
        });
    }
    EXPECT_GT(narrowed, 100);
}

}  // namespace
}  // namespace tessera::tiles
