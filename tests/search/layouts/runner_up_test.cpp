#include "search/layouts/runner_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/random_problem.h"
#include "search/layouts/account.h"
#include "search/layouts/two_products.h"

namespace tessera::layouts {
namespace {

using ::testing::IsEmpty;
using testing::Searched;

Layout layout_under(const Search& search, egraph::ClassId value, const extraction::Choice& choice) {
    const int node = maker_of(search, value, choice);
    EXPECT_GE(node, 0);
    return search.graph.egraph.op(search.problem.nodes[static_cast<size_t>(node)]).results.front().layout;
}

const ValueForms& named(const std::vector<ValueForms>& values, const std::string& tensor) {
    for (const ValueForms& value : values)
        if (value.tensors.front() == tensor) return value;
    throw std::out_of_range(tensor);
}

TEST(RunnerUp, IsTheBestThatLiesOtherwise) {
    const Searched all;
    const std::vector<ValueForms> values = forms_of_values(all.graph, all.initial, all.search);
    int found = 0;
    for (const ValueForms& value : values) {
        SCOPED_TRACE(value.tensors.front());
        const Layout chosen = layout_under(all.search, value.value, all.search.result.choice);
        const extraction::Result other = runner_up(all.search, value.value, {});
        const auto least = least_cost(all.search.problem.problem, [&](const extraction::Choice& choice) {
            return layout_under(all.search, value.value, choice) != chosen;
        });
        ASSERT_EQ(!other.choice.empty(), least.has_value());
        if (!least) {
            EXPECT_EQ(other.status, extraction::Status::kInfeasible);
            continue;
        }
        ++found;
        EXPECT_EQ(other.status, extraction::Status::kOptimal);
        EXPECT_THAT(violations(all.search.problem.problem, other.choice), IsEmpty());
        EXPECT_NEAR(other.cost, cost_of(all.search.problem.problem, other.choice), 1e-15);
        EXPECT_NEAR(other.cost, *least, 1e-15);
        EXPECT_GE(other.cost, all.search.result.cost);
        EXPECT_NE(layout_under(all.search, value.value, other.choice), chosen);
    }
    EXPECT_EQ(found, 4);  // all but the input, which lies as it is given
}

TEST(RunnerUp, ChangesLeadFromOneChoiceToTheOther) {
    const Searched all;
    const std::vector<ValueForms> values = forms_of_values(all.graph, all.initial, all.search);
    const extraction::Choice& chosen = all.search.result.choice;
    EXPECT_THAT(changes(all.search, chosen, chosen), IsEmpty());
    const extraction::Result other = runner_up(all.search, named(values, "H").value, {});
    double more = 0;
    const auto seconds = [&](int node) {
        return node < 0 ? 0 : all.search.costs[static_cast<size_t>(node)].seconds;
    };
    for (const Change& change : changes(all.search, chosen, other.choice)) {
        EXPECT_NE(change.before, change.after);
        more += seconds(change.after) - seconds(change.before);
    }
    EXPECT_NEAR(more, other.cost - all.search.result.cost, 1e-15);
}

TEST(Account, NamesReadersCopiesAndWhatWouldChange) {
    const Searched all;
    const std::vector<ValueForms> values = forms_of_values(all.graph, all.initial, all.search);
    const Account of_value = account_of(all.search, values, named(values, "H"), {});
    EXPECT_EQ(print(of_value.layout), "lanes <0:16, 1:16>");
    EXPECT_EQ(of_value.maker.made_by, "first");
    ASSERT_EQ(of_value.readers.size(), 1u);
    EXPECT_EQ(of_value.readers.front().made_by, "second");
    EXPECT_EQ(of_value.readers.front().layout, of_value.layout);
    EXPECT_GT(of_value.readers.front().seconds, 0);
    EXPECT_THAT(of_value.copies, IsEmpty());
    EXPECT_NE(of_value.other_layout, of_value.layout);
    EXPECT_FALSE(of_value.changes.empty());

    const Account of_result = account_of(all.search, values, named(values, "Y"), {});
    ASSERT_EQ(of_result.copies.size(), 1u);  // outputs of a block are row-major
    EXPECT_TRUE(of_result.copies.front().layout.is_row_major());

    const Account of_constant = account_of(all.search, values, named(values, "W"), {});
    EXPECT_FALSE(of_constant.maker.at);
    ASSERT_EQ(of_constant.readers.size(), 1u);
    EXPECT_EQ(of_constant.readers.front().made_by, "first");
    EXPECT_THAT(of_constant.copies, IsEmpty());
    EXPECT_FALSE(of_constant.runner_up.choice.empty());
}

}  // namespace
}  // namespace tessera::layouts
