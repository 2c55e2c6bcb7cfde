#include "search/extraction/max_sat.h"

#include <random>

#include <gtest/gtest.h>

namespace tessera::extraction {
namespace {

struct Formula3 {
    int variables;
    std::vector<std::vector<int>> clauses;
    std::vector<Soft> softs;
};

Formula3 random_formula(std::mt19937& random) {
    Formula3 f{.variables = 3 + static_cast<int>(random() % 8), .clauses = {}, .softs = {}};
    const auto literal = [&] {
        const int variable = 1 + static_cast<int>(random() % static_cast<unsigned>(f.variables));
        return random() % 3 == 0 ? -variable : variable;
    };
    for (unsigned i = 0; i < 20; ++i) {
        std::vector<int> clause;
        for (unsigned j = 0; j <= random() % 3; ++j) clause.push_back(literal());
        if (clause.size() > 1) f.clauses.push_back(clause);
    }
    for (int v = 1; v <= f.variables; ++v)
        if (random() % 4 != 0) f.softs.push_back({-v, 1 + static_cast<Weight>(random() % 6)});
    return f;
}

std::optional<Weight> least_violation(const Formula3& f) {
    std::optional<Weight> best;
    for (unsigned bits = 0; bits < 1U << f.variables; ++bits) {
        const auto holds = [&](int literal) {
            return ((bits >> (std::abs(literal) - 1) & 1) != 0) == (literal > 0);
        };
        bool is_model = true;
        for (const auto& clause : f.clauses)
            is_model = is_model && std::any_of(clause.begin(), clause.end(), holds);
        if (!is_model) continue;
        Weight cost = 0;
        for (const Soft& soft : f.softs) cost += holds(soft.literal) ? 0 : soft.weight;
        if (!best || cost < *best) best = cost;
    }
    return best;
}

TEST(MaxSat, MeetsExhaustiveEnumeration) {
    int infeasible = 0;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const Formula3 f = random_formula(random);
        Sat sat;
        for (int v = 0; v < f.variables; ++v) sat.new_variable();
        for (const auto& clause : f.clauses) sat.add(clause);
        MaxSat search(sat, f.softs, 100, [&]() -> std::optional<Weight> {
            Weight cost = 100;
            for (const Soft& soft : f.softs) cost += sat.is_true(soft.literal) ? 0 : soft.weight;
            return cost;
        });
        Budget budget(1'000'000, std::nullopt, {});
        const MaxSat::End end = search.run(budget);
        const auto least = least_violation(f);
        if (!least) {
            EXPECT_EQ(end, MaxSat::End::kInfeasible);
            ++infeasible;
            continue;
        }
        ASSERT_EQ(end, MaxSat::End::kOptimal);
        EXPECT_EQ(search.upper(), 100 + *least);
        EXPECT_EQ(search.lower(), 100 + *least);
    }
    EXPECT_GT(infeasible, 0);
    EXPECT_LT(infeasible, 750);
}

TEST(Totalizer, CountsEveryAssignment) {
    constexpr int kSize = 5;
    for (unsigned bits = 0; bits < 1U << kSize; ++bits) {
        Sat sat;
        std::vector<int> literals;
        for (int i = 0; i < kSize; ++i) literals.push_back(sat.new_variable());
        Totalizer totalizer(sat, literals);
        // Bounds out of order: each adds the clauses that smaller ones lack.
        std::vector<int> at_least(kSize + 1);
        for (const int k : {2, 1, 5, 3, 4}) at_least[static_cast<size_t>(k)] = totalizer.at_least(k);
        std::vector<int> assumed;
        for (int i = 0; i < kSize; ++i)
            assumed.push_back((bits >> i & 1) != 0 ? literals[static_cast<size_t>(i)]
                                                   : -literals[static_cast<size_t>(i)]);
        for (int k = 1; k <= kSize; ++k) {
            std::vector<int> asked = assumed;
            asked.push_back(-at_least[static_cast<size_t>(k)]);
            Budget budget(1000, std::nullopt, {});
            EXPECT_EQ(sat.solve(asked, budget) == Sat::Answer::kSatisfiable, __builtin_popcount(bits) < k);
        }
    }
}

}  // namespace
}  // namespace tessera::extraction
