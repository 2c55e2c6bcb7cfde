#include <gtest/gtest.h>

#include "ir/facts/sbp.h"

namespace tessera::facts {
namespace {

BoundDefinition filled(const std::string& text) {
    return bind_test(parse_definition_file(text, "t.op"), "t.op");
}

std::string text_of(const std::optional<Signature>& signature) {
    if (!signature) return "none";
    std::string all;
    for (const Sbp& sbp : *signature) all += (all.empty() ? "" : " ") + text(sbp);
    return all;
}

TEST(Splits, PartsDifferByOneAtMost) {
    EXPECT_EQ(part_of({0, 7}, 3, 0), (Range{0, 3}));
    EXPECT_EQ(part_of({0, 7}, 3, 1), (Range{3, 5}));
    EXPECT_EQ(part_of({0, 7}, 3, 2), (Range{5, 7}));
    EXPECT_EQ(part_of({4, 12}, 2, 1), (Range{8, 12}));
    EXPECT_EQ(part_of({0, 5}, 2, 0), (Range{0, 3}));  // the larger half first, as the zoo has it
}

TEST(Splits, OfManyDevices) {
    const BoundDefinition op = filled("op p(m: 6, k*: 6)\nin A f32[m, k]\nout C f32[m] = sum(A)\ntest\n");
    Splits splits(op);
    const Share whole = whole_share(op);
    EXPECT_EQ(text_of(splits.split({&whole, 1}, 0, 3, Cut::kEvenly)), "S(0) S(0)");
    EXPECT_EQ(text_of(splits.split({&whole, 1}, 1, 6, Cut::kEvenly)), "S(1) P(sum)");
    // Four parts of six are ragged.
    EXPECT_EQ(text_of(splits.split({&whole, 1}, 0, 4, Cut::kEvenly)), "none");
    EXPECT_EQ(text_of(splits.split({&whole, 1}, 0, 4, Cut::kRagged)), "S(0) S(0)");
}

// An inner level sees its group alone: within one head of the cache, all query heads read the same.
TEST(Splits, OfInnerLevelsSeeTheirGroupAlone) {
    const BoundDefinition op =
        filled("op s(h: 8)\nin Q f32[h], K f32[h div 4]\nout P f32[h] = Q * K\ntest\n");
    Splits splits(op);
    const Share whole = whole_share(op);
    const auto outer = splits.split({&whole, 1}, 0, 2, Cut::kEvenly);
    ASSERT_EQ(text_of(outer), "S(0) S(0) S(0)");
    const std::vector<Share> groups = Splits::parts({&whole, 1}, *outer, 0, 2);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[1].iterations, (IterationBox{{4, 8}}));
    EXPECT_EQ(groups[1].tensors[1], (std::vector<Range>{{1, 2}}));
    EXPECT_EQ(text_of(splits.split(groups, 0, 2, Cut::kEvenly)), "S(0) B S(0)");
}

// A maximum of copies: true in every group of the inner level, though not of the whole.
TEST(Splits, OfMaximaOverEqualValues) {
    const BoundDefinition op = filled(
        "op m(t: 4)\nindex id i32[t]\nin X f32[id[t] + 0] of [4]\n"
        "out Y f32[id[t]] of [4] = max(X)\ntest\nfill id[i] = i div 2\n");
    Splits splits(op);
    const Share whole = whole_share(op);
    EXPECT_EQ(text_of(splits.split({&whole, 1}, 0, 2, Cut::kEvenly)), "none");
    const Share low{{{0, 2}}, whole.tensors};
    const Share high{{{2, 4}}, whole.tensors};
    EXPECT_EQ(text_of(splits.split({&low, 1}, 0, 2, Cut::kEvenly)), "B B B");
    EXPECT_EQ(text_of(splits.split({&high, 1}, 0, 2, Cut::kEvenly)), "B B B");
}

// 0 * -inf is no number: the device that executes i = 0 spoils its rows, as it does in the whole. Scores that
// are in range on one device only are the rows of the whole, but no numbers on the others.
TEST(Splits, OfRowsThatAreNoNumbers) {
    const auto split_by_3 = [](const std::string& score) {
        const BoundDefinition op = filled(
            "op n(i*: 3, t: 2)\nin X f32[i, t] of [1, 2], W f32[i]\n"
            "out M f32[t], L f32[t], A f32[t] = softmax_sum(" +
            score + ", W)\ntest\n");
        Splits splits(op);
        const Share whole = whole_share(op);
        return text_of(splits.split({&whole, 1}, 0, 3, Cut::kEvenly));
    };
    EXPECT_EQ(split_by_3("X[i + 1, t] * i"), "B S(0) P(softmax_sum) P(softmax_sum) P(softmax_sum)");
    EXPECT_EQ(split_by_3("X"), "none");
}

TEST(Splits, RestrictedOperatorsCountFromZero) {
    const BoundDefinition op =
        filled("op r(m: 4, n: 6)\nin A f32[m, n div 2]\nout C f32[m, n] = A + n\nwhere n < 5\ntest\n");
    const BoundDefinition seen = restricted_to(op, {{1, 3}, {2, 6}});
    EXPECT_EQ(seen.extents.iterators, (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(seen.extents.shapes, op.extents.shapes);
    EXPECT_EQ(print(seen.definition, seen.definition.where), "n + 2 < 5");
    EXPECT_EQ(print(seen.definition, seen.definition.tensors[0].map[1]), "(n + 2) div 2");
}

}  // namespace
}  // namespace tessera::facts
