// Families are recognised by definitions alone, and a member made from the attributes of another one is the
// same operator.
#include "search/rules/algebra/families.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "ir/result_type.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/algebra/permutation.h"
#include "search/rules/examples.h"

namespace tessera::rules {
namespace {

using egraph::EGraph;
using egraph::FamilyPtr;
using egraph::Leaf;
using egraph::Operator;
using egraph::TermId;

const std::vector<DimSymbol>& step_symbols() {
    static const std::vector<DimSymbol> all = {{"T", 1, 6}};
    return all;
}

struct Case {
    const char* name;
    const char* text;      ///< iterators and what follows; `dim T in 1..6` is put in
    const char* families;  ///< that recognise it
};

constexpr Case kCases[] = {
    {"transpose", "(a: 3, t: T)\nin X f16[t, a]\nout Y f16[a, t] = X", "transpose"},
    {"transpose_in_another_order_of_loops", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[a, t] = X", "transpose"},
    {"transpose_that_pads", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[a, t] of [5, T] = X", ""},
    {"transpose_that_slices", "(t: T, a: 3)\nin X f32[t, a] of [T, 5]\nout Y f32[a, t] = X", ""},
    {"diagonal", "(t: T)\nin X f32[t, t]\nout Y f32[t] = X", ""},
    {"predicated", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[t, a] = X\nwhere a < 2", ""},
    {"update", "(t: T, a: 3)\nin X f32[t, a]\nupdate Y f32[t, a] = X", ""},
    {"indirect", "(t: T, a: 3)\nindex i i32[t]\nin X f32[i[t], a] of [T, 3]\nout Y f32[t, a] = X", ""},
    {"cast", "(t: T, a: 3)\nin X f32[t, a]\nout Y bf16[t, a] = X", "unary"},
    {"unary", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[t, a] = X * sigmoid(X)", "unary"},
    {"unary_of_a_position", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[t, a] = X * a", ""},
    {"unary_of_a_neighbour", "(t: T, a: 3)\nin X f32[t, a]\nout Y f32[t, a] = X + X[t, a - 1]", ""},
    {"binary", "(t: T, a: 3)\nin X f32[t, a]\nin Z i8[t, a]\nout Y f32[t, a] = X + Z", "binary"},
    {"binary_that_broadcasts", "(t: T, a: 3)\nin X f32[t, a]\nin Z f32[a]\nout Y f32[t, a] = X + Z", ""},
    {"reduce", "(t: T, a*: 3, b: 2)\nin X f32[t, a, b]\nout Y f32[t, b] = max(X) * 2", "reduce"},
    {"reduce_that_transposes", "(t: T, a*: 3, b: 2)\nin X f32[t, a, b]\nout Y f32[b, t] = max(X)", ""},
    {"product", "(t: T, n: 4, k*: 3)\nin X f32[t, k]\nin W f16[n, k]\nout Y f32[t, n] = sum(X * W)",
     "product"},
    {"product_with_a_bias",
     "(t: T, n: 4, k*: 3)\nin X f32[t, k]\nin W f16[n, k]\nin B f32[n]\nout Y f32[t, n] = sum(X * W) + B",
     ""},
    {"maximum_of_products",
     "(t: T, n: 4, k*: 3)\nin X f32[t, k]\nin W f16[n, k]\nout Y f32[t, n] = max(X * W)", ""},
    {"broadcast", "(a: 3, t: T, b: 2)\nin X f32[b, a]\nout Y f32[a, t, b] = X", "broadcast"},
    {"split", "(t: T, h: 2, e: 3)\nin X f32[t, 3 * h + e] of [T, 6]\nout Y f32[t, h, e] = X", "reshape"},
    {"merge", "(t: T, n: 6)\nin X f32[t, n div 3, n mod 3] of [T, 2, 3]\nout Y f32[t, n] = X", "reshape"},
    {"reshape_across",
     "(a: 2, b: 6)\nin X f32[(a * 6 + b) div 4, (a * 6 + b) mod 4] of [3, 4]\nout Y f32[a, b] = X",
     "reshape"},
    {"split_of_columns", "(t: T, h: 2, e: 3)\nin X f32[t, h + 2 * e] of [T, 6]\nout Y f32[t, h, e] = X", ""},
    {"slice", "(t: T, a: 3)\nin X f32[t, 2 * a + 1] of [T, 8]\nout Y f32[t, a] = X", "slice"},
    {"slice_that_reads_outside", "(t: T, a: 3)\nin X f32[t, 2 * a + 1] of [T, 5]\nout Y f32[t, a] = X", ""},
    {"reversed", "(t: T, a: 3)\nin X f32[t, 2 - a] of [T, 3]\nout Y f32[t, a] = X", ""},
    {"concat",
     "(t: T, a: 5)\nin X f32[t, a] of [T, 2]\nin Z f32[t, a - 2] of [T, 3]\nout Y f32[t, a] = select(a < 2, "
     "X, Z)",
     "concat"},
    {"concat_with_a_gap",
     "(t: T, a: 5)\nin X f32[t, a] of [T, 2]\nin Z f32[t, a - 3] of [T, 2]\nout Y f32[t, a] = select(a < 2, "
     "X, Z)",
     ""},
};

Operator operator_of(const Case& c) {
    const std::string text(c.text);
    const size_t head = text.find('\n');
    const bool has_dim = text.find('T') != std::string::npos;
    const Definition definition = parse_definition(
        "op thing" + text.substr(0, head) + (has_dim ? "\ndim T in 1..6" : "") + text.substr(head) + "\n",
        c.name);
    verify(definition, c.name);
    return {.what = std::make_shared<const Definition>(definition),
            .results = {type_of(definition, definition.results().front(), c.name)}};
}

class Recognition : public ::testing::TestWithParam<Case> {};

TEST_P(Recognition, FollowsFromTheDefinition) {
    const Operator op = operator_of(GetParam());
    const Families all(step_symbols());
    std::string found;
    for (const FamilyPtr& family : {all.transpose, all.unary, all.binary, all.reduce, all.product,
                                    all.broadcast, all.reshape, all.slice, all.concat}) {
        const auto attributes = family->recognise(op);
        if (!attributes) continue;
        found += (found.empty() ? "" : " ") + family->name;

        // Made anew, it computes the same.
        EGraph egraph;
        std::vector<TermId> children;
        std::vector<TensorType> types;
        for (int t = 0; t < static_cast<int>(op.definition()->tensors.size()); ++t) {
            const TensorDecl& tensor = op.definition()->tensors[static_cast<size_t>(t)];
            if (tensor.role != Role::kIn) continue;
            types.push_back(type_of(*op.definition(), t, tensor.name));
            children.push_back(egraph.add(
                Operator{.what = Leaf{ValueKind::kInput, "x" + tensor.name}, .results = {types.back()}}, {}));
        }
        const auto made = family->make(*attributes, types);
        ASSERT_TRUE(made);
        EXPECT_EQ(family->recognise(*made), attributes);
        const Graph before = testing::graph_of(egraph, egraph.add(op, children), step_symbols());
        const Graph after = testing::graph_of(egraph, egraph.add(*made, children), step_symbols());
        verify(after, GetParam().name);
        const GraphCall call = testing::random_call(before, 5, true);
        EXPECT_EQ(testing::difference(interpret_graph(after, call), interpret_graph(before, call), 0), "");
    }
    EXPECT_EQ(found, GetParam().families);
}

INSTANTIATE_TEST_SUITE_P(All, Recognition, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Families, MakeNothingThatDoesNotFit) {
    const Families all(step_symbols());
    const auto f32 = [](std::vector<Dim> shape) { return row_major(ElementType::kF32, std::move(shape)); };
    const std::vector<TensorType> matrix = {f32({Dim("T"), 6})};
    const auto makes = [](const FamilyPtr& family, const egraph::Attributes& attributes,
                          const std::vector<TensorType>& types) {
        return family->make(attributes, types).has_value();
    };
    using Shape = std::vector<Dim>;
    using Numbers = std::vector<int64_t>;
    EXPECT_FALSE(makes(all.transpose, {{"perm", Permutation{1, 2, 0}}}, matrix));
    // A symbol inside a group decides where its neighbours lie.
    EXPECT_FALSE(
        makes(all.reshape, {{"from", Shape{6, Dim("T")}}, {"to", Shape{Dim("T", 6)}}}, {f32({6, Dim("T")})}));
    EXPECT_TRUE(makes(all.reshape, {{"from", Shape{Dim("T"), 6}}, {"to", Shape{Dim("T", 6)}}}, matrix));
    EXPECT_FALSE(makes(all.reshape, {{"from", Shape{Dim("T"), 6}}, {"to", Shape{Dim("T"), 5}}}, matrix));
    EXPECT_FALSE(makes(all.slice,
                       {{"start", Numbers{0, 3}}, {"step", Numbers{1, 2}}, {"shape", Shape{Dim("T"), 3}}},
                       matrix));
    EXPECT_FALSE(makes(all.slice, {{"start", Numbers{1, 0}}, {"step", Numbers{1, 1}}, {"shape", Shape{2, 6}}},
                       matrix));
    EXPECT_FALSE(makes(all.binary, {{"body", formula("X + Z", 2)}, {"result", "f32"}},
                       {matrix[0], f32({Dim("T"), 5})}));
    EXPECT_FALSE(makes(all.concat, {{"axis", int64_t{0}}}, {matrix[0], matrix[0]}));
    TensorType blocked = matrix[0];
    blocked.layout.lanes = {{1, 2}};
    EXPECT_FALSE(makes(all.transpose, {{"perm", Permutation{1, 0}}}, {blocked}));
}

TEST(Families, NamesThatAreSymbolsAreNotUsed) {
    const std::vector<DimSymbol> awkward = {{"i0", 1, 4}, {"X0", 1, 4}, {"Y", 1, 4}, {"transpose", 1, 4}};
    const Families all(awkward);
    const auto op = all.transpose->make({{"perm", Permutation{1, 0}}},
                                        std::vector{row_major(ElementType::kF32, {Dim("X0"), Dim("Y", 2)})});
    ASSERT_TRUE(op);
    verify(*op->definition(), "awkward");
    EXPECT_EQ(op->results.front().shape, (std::vector<Dim>{Dim("Y", 2), Dim("X0")}));
}

}  // namespace
}  // namespace tessera::rules
