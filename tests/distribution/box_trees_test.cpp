#include "distribution/box_trees.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "distribution/price_tables.h"
#include "distribution/random_graph.h"
#include "distribution/read_problem.h"

namespace tessera::distribution {
namespace {

SearchGraph graph_of(const Problem& problem) {
    std::vector<std::vector<Choice>> choices;
    for (const Operator& op : problem.operators) choices.push_back(derive_choices(problem, op));
    return build_search_graph(problem, choices);
}

std::vector<SearchGraph> random_graphs() {
    std::vector<SearchGraph> graphs;
    for (uint64_t seed = 0; seed < 30; ++seed)
        graphs.push_back(graph_of(
            read_problem(random_graph_text(seed, {.levels = 2, .most_operators = 3}), "drawn.dist")));
    return graphs;
}

// A tree holds what is asked for, each form once, at the price that it promises.
TEST(BoxTrees, MakeWhatIsAskedFor) {
    std::mt19937 random(3);
    int trees_seen = 0;
    for (const SearchGraph& graph : random_graphs())
        for (const Cluster& cluster : graph.values) {
            FormSets sets;
            const Objective both{1, 0, true};
            BoxTrees trees(cluster, sets, both);
            for (int round = 0; round < 4; ++round) {
                const auto first = static_cast<FormId>(random() % cluster.forms.size());
                SetId asked = 0;
                for (size_t n = random() % 4; n > 0; --n)
                    asked = sets.with(asked, static_cast<FormId>(random() % cluster.forms.size()));
                const std::vector<Price> prices = trees.prices(first, asked);
                for (size_t i = 1; i < prices.size(); ++i) {
                    EXPECT_LT(prices[i - 1].seconds, prices[i].seconds);
                    EXPECT_GT(prices[i - 1].units, prices[i].units);
                }
                for (const Price& price : prices) {
                    const BoxTrees::Tree tree = trees.tree(first, asked, price);
                    std::set<FormId> held{tree.first};
                    Price sum{0, cluster.units[static_cast<size_t>(tree.first)]};
                    for (const Cluster::Edge& edge : tree.boxes) {
                        EXPECT_TRUE(held.contains(edge.from));
                        EXPECT_TRUE(held.insert(edge.to).second);
                        sum.seconds += edge.seconds;
                        sum.units += edge.units;
                    }
                    for (const FormId form : sets[asked]) EXPECT_TRUE(held.contains(form));
                    EXPECT_NEAR(sum.seconds, price.seconds, 1e-9 * price.seconds);
                    EXPECT_EQ(sum.units, price.units);
                    ++trees_seen;
                }
            }
        }
    EXPECT_GT(trees_seen, 300);
}

TEST(BoxTrees, ListTheSubsetsOfASet) {
    FormSets sets;
    const SetId three = sets.with(sets.with(sets.with(0, 4), 1), 9);
    const std::vector<SetId>& subsets = sets.subsets(three);
    ASSERT_EQ(subsets.size(), 8u);
    EXPECT_EQ(sets[subsets[0]], std::vector<FormId>{});
    EXPECT_EQ(sets[subsets[0b101]], (std::vector<FormId>{1, 9}));
    EXPECT_EQ(subsets[7], three);
    EXPECT_EQ(sets.with(three, 4), three);
}

// Two readers that may read in any form: the tables say what the best pair of forms costs.
TEST(PriceTables, AgreeWithEveryPairOfForms) {
    std::mt19937 random(5);
    const Objective weighed{1e9, 0.01, false};
    for (const SearchGraph& graph : random_graphs())
        for (const Cluster& cluster : graph.values) {
            FormSets sets;
            BoxTrees trees(cluster, sets, weighed);
            const PriceTables tables(cluster, weighed);
            const size_t forms = cluster.forms.size();
            std::vector<Costs> readers(2, Costs(forms, kInfinity));
            for (Costs& reader : readers)
                for (size_t f = 0; f < forms; ++f)  // nobody reads partial weights
                    if (random() % 3 > 0 && !holds_weights(cluster.forms[f]))
                        reader[f] = static_cast<double>(random() % 2000) - 1000;
            const std::vector<Costs> inside = tables.inside(readers);
            OpenTables open(tables, sets, {readers[1]});
            const auto first = static_cast<FormId>(random() % forms);
            const auto root = static_cast<size_t>(tables.root(first));
            double least = kInfinity;
            Costs of_first(forms, kInfinity);  // for each form of the first reader
            for (size_t f = 0; f < forms; ++f) {
                if (holds_weights(cluster.forms[f])) continue;
                const SetId one = sets.with(0, static_cast<FormId>(f));
                for (size_t g = 0; g < forms; ++g)
                    for (const Price& price : trees.prices(first, sets.with(one, static_cast<FormId>(g))))
                        of_first[f] = std::min(of_first[f], weighed.of(price) + readers[1][g]);
                least = std::min(least, of_first[f] + readers[0][f]);
                const double opened = tables.alone(first) + open.prices(one)[root];
                EXPECT_TRUE(opened == of_first[f] || std::abs(opened - of_first[f]) < 1e-6);
            }
            const double got = tables.alone(first) + inside.back()[root];
            EXPECT_TRUE(got == least || std::abs(got - least) < 1e-6) << got << " " << least;
            Costs roots(forms, kInfinity);
            roots[static_cast<size_t>(first)] = 0;
            const Costs outside = tables.outside(inside, roots)[1];
            for (size_t f = 0; f < forms; ++f)
                if (readers[0][f] < kInfinity) {
                    EXPECT_TRUE(outside[f] == of_first[f] || std::abs(outside[f] - of_first[f]) < 1e-6);
                }
        }
}

}  // namespace
}  // namespace tessera::distribution
