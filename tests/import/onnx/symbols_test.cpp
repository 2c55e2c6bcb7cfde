// Models with symbolic extents mean the same at every value as models of that size.
#include <functional>
#include <random>

#include <gmock/gmock.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

test::ProtoText ints(const char* name, const std::vector<int64_t>& values) {
    return test::onnx_tensor<int64_t>(name, test::kOnnxInt64, {static_cast<int64_t>(values.size())}, values);
}
test::ProtoText scalar(const char* name, int64_t value) {
    return test::onnx_tensor<int64_t>(name, test::kOnnxInt64, {}, {value});
}

/// The model once with symbols, and for each value of them as one of that size.
void expect_same(const OnnxBuilder& model, const std::string& input,
                 const std::function<std::vector<int64_t>(const std::map<std::string, int64_t>&)>& shape_of,
                 const std::vector<std::map<std::string, int64_t>>& values) {
    ImportOptions ranged;
    for (const auto& [name, value] : values.front()) ranged.dims[name] = {1, 9};
    const ImportedModel symbolic = imported(model, ranged);
    for (const std::map<std::string, int64_t>& at : values) {
        ImportOptions fixed;
        for (const auto& [name, value] : at) fixed.dims[name] = {value, value};
        TensorData x{shape_of(at), {}};
        int64_t count = 1;
        for (const int64_t extent : x.shape) count *= extent;
        x.values = test::counted(static_cast<size_t>(count), -2, 0.25);
        const std::vector<TensorData> got = test::run(symbolic, {{input, x}}, at),
                                      want = test::run(imported(model, fixed), {{input, x}});
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i) {
            EXPECT_EQ(got[i].shape, want[i].shape);
            EXPECT_EQ(got[i].values, want[i].values);
        }
    }
}

// Exporters gather a mask's rows and columns by their numbers: [n, 1, 1, m] at (batch, column).
TEST(OnnxSymbols, PlacesThatFollowFromRangesNeedNoTable) {
    const OnnxBuilder model = OnnxBuilder()
                                  .symbolic_input("x", test::kOnnxFloat, {"n", "m"})
                                  .output("y", test::kOnnxFloat, {})
                                  .output("w", test::kOnnxFloat, {})
                                  .initializer(scalar("zero", 0))
                                  .initializer(scalar("one", 1))
                                  .initializer(ints("first", {0}))
                                  .initializer(ints("last", {1}))
                                  .initializer(ints("rows_at", {1, 2, 3}))
                                  .initializer(ints("columns_at", {0, 1, 2}))
                                  .initializer(ints("end", {-1}))
                                  .node(OnnxNode("Shape", {"x"}, {"shape"}))
                                  .node(OnnxNode("Gather", {"shape", "zero"}, {"n"}))
                                  .node(OnnxNode("Gather", {"shape", "one"}, {"m"}))
                                  .node(OnnxNode("Range", {"zero", "n", "one"}, {"rows"}))
                                  .node(OnnxNode("Range", {"zero", "m", "one"}, {"columns"}))
                                  .node(OnnxNode("Unsqueeze", {"rows", "rows_at"}, {"r"}))
                                  .node(OnnxNode("Unsqueeze", {"columns", "columns_at"}, {"c"}))
                                  .node(OnnxNode("Max", {"r", "c"}, {"both"}))
                                  .node(OnnxNode("Shape", {"both"}, {"grid"}))
                                  .node(OnnxNode("Expand", {"r", "grid"}, {"re"}))
                                  .node(OnnxNode("Expand", {"c", "grid"}, {"ce"}))
                                  .node(OnnxNode("Unsqueeze", {"re", "end"}, {"ru"}))
                                  .node(OnnxNode("Unsqueeze", {"ce", "end"}, {"cu"}))
                                  .node(OnnxNode("Concat", {"ru", "cu"}, {"places"}).integer("axis", -1))
                                  .node(OnnxNode("GatherND", {"x", "places"}, {"y"}))
                                  .node(OnnxNode("Gather", {"x", "columns"}, {"w"}).integer("axis", 1));
    expect_same(model, "x",
                [](auto at) {
                    return std::vector<int64_t>{at["n"], at["m"]};
                },
                {{{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 9}, {"m", 2}}});
    for (const Node& node :
         imported(model, {.dims = {{"n", {1, 9}}, {"m", {1, 9}}}}).graph.blocks.front().nodes)
        for (const TensorDecl& tensor : node.definition()->tensors)
            EXPECT_NE(tensor.role, Role::kIndex) << node.name;
}

// The last place lies outside of the axis for some values of the symbols.
TEST(OnnxSymbols, PlacesThatMayLieOutsideAreRefused) {
    const ImportedModel model = imported(OnnxBuilder()
                                             .symbolic_input("x", test::kOnnxFloat, {"n"})
                                             .output("y", test::kOnnxFloat, {})
                                             .initializer(scalar("zero", 0))
                                             .initializer(scalar("one", 1))
                                             .node(OnnxNode("Shape", {"x"}, {"shape"}))
                                             .node(OnnxNode("Squeeze", {"shape"}, {"n"}))
                                             .node(OnnxNode("Range", {"zero", "n", "one"}, {"places"}))
                                             .node(OnnxNode("Add", {"places", "one"}, {"next"}))
                                             .node(OnnxNode("Gather", {"x", "next"}, {"y"})),
                                         {.dims = {{"n", {1, 9}}}});
    ASSERT_FALSE(model.unsupported.empty());
    EXPECT_THAT(print(model.unsupported.front()), HasSubstr("computes places along the symbolic extent n"));
}

TEST(OnnxSymbols, ABatchGoesThroughConvolutionAndPooling) {
    const OnnxBuilder model =
        OnnxBuilder()
            .symbolic_input("x", test::kOnnxFloat, {"n", "2", "5", "4"})
            .output("y", test::kOnnxFloat, {})
            .initializer(
                test::onnx_tensor<float>("w", test::kOnnxFloat, {3, 2, 3, 3}, std::vector<float>(54, 0.25F)))
            .initializer(test::onnx_tensor<float>("v", test::kOnnxFloat, {3, 2}, std::vector<float>(6, 2)))
            .node(OnnxNode("Conv", {"x", "w"}, {"c"}).integers("pads", {1, 1, 1, 1}))
            .node(OnnxNode("MaxPool", {"c"}, {"p"}).integers("kernel_shape", {2, 2}))
            .node(OnnxNode("GlobalAveragePool", {"p"}, {"g"}))
            .node(OnnxNode("Flatten", {"g"}, {"f"}))
            .node(OnnxNode("Gemm", {"f", "v"}, {"y"}));
    expect_same(model, "x",
                [](const auto& at) {
                    return std::vector<int64_t>{at.at("n"), 2, 5, 4};
                },
                {{{"n", 1}}, {{"n", 3}}});
}

/// Heads are split off and joined again by numbers that are gathered from the shape.
TEST(OnnxSymbols, ShapeArithmeticKeepsSymbols) {
    const OnnxBuilder model =
        OnnxBuilder()
            .symbolic_input("x", test::kOnnxFloat, {"n", "t", "6"})
            .output("y", test::kOnnxFloat, {})
            .output("positions", test::kOnnxInt64, {})
            .output("mean", test::kOnnxFloat, {})
            .output("last", test::kOnnxFloat, {})
            .output("twice", test::kOnnxInt64, {})
            .initializer(scalar("i0", 0))
            .initializer(scalar("i1", 1))
            .initializer(scalar("minus", -1))
            .initializer(ints("zero", {0}))
            .initializer(ints("two", {2}))
            .initializer(ints("heads", {2, 3}))
            .initializer(ints("rest", {-1}))
            .node(OnnxNode("Shape", {"x"}, {"s"}))
            .node(OnnxNode("Gather", {"s", "i0"}, {"n"}))
            .node(OnnxNode("Gather", {"s", "i1"}, {"t"}))
            .node(OnnxNode("Unsqueeze", {"n", "zero"}, {"ns"}))
            .node(OnnxNode("Unsqueeze", {"t", "zero"}, {"ts"}))
            .node(OnnxNode("Concat", {"ns", "ts", "heads"}, {"split"}).integer("axis", 0))
            .node(OnnxNode("Reshape", {"x", "split"}, {"four"}))
            .node(OnnxNode("Transpose", {"four"}, {"by_heads"}).integers("perm", {0, 2, 1, 3}))
            .node(OnnxNode("Transpose", {"by_heads"}, {"back"}).integers("perm", {0, 2, 1, 3}))
            .node(OnnxNode("Concat", {"ns", "ts", "rest"}, {"joined"}).integer("axis", 0))
            .node(OnnxNode("Reshape", {"back", "joined"}, {"y"}))
            .node(OnnxNode("Range", {"i0", "t", "i1"}, {"row"}))
            .node(OnnxNode("Concat", {"ns", "ts"}, {"both"}).integer("axis", 0))
            .node(OnnxNode("Expand", {"row", "both"}, {"positions"}))
            .node(OnnxNode("ReduceMean", {"x"}, {"mean"}).integers("axes", {1}))
            .node(OnnxNode("Gather", {"x", "minus"}, {"last"}).integer("axis", 1))
            .node(OnnxNode("Mul", {"s", "two"}, {"twice"}));
    expect_same(model, "x",
                [](const auto& at) {
                    return std::vector<int64_t>{at.at("n"), at.at("t"), 6};
                },
                {{{"n", 1}, {"t", 1}}, {{"n", 2}, {"t", 5}}, {{"n", 9}, {"t", 3}}});
}

TEST(OnnxSymbols, ABatchOfRecurrentLayers) {
    const OnnxBuilder model = OnnxBuilder()
                                  .symbolic_input("x", test::kOnnxFloat, {"3", "n", "2"})
                                  .output("y", test::kOnnxFloat, {})
                                  .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {1, 8, 2},
                                                                        std::vector<float>(16, 0.5F)))
                                  .initializer(test::onnx_tensor<float>("r", test::kOnnxFloat, {1, 8, 2},
                                                                        std::vector<float>(16, -0.25F)))
                                  .node(OnnxNode("LSTM", {"x", "w", "r"}, {"y"}).integer("hidden_size", 2));
    expect_same(model, "x",
                [](const auto& at) {
                    return std::vector<int64_t>{3, at.at("n"), 2};
                },
                {{{"n", 1}}, {{"n", 4}}});
}

/// Random arithmetic on a shape: what folds and what is left to nodes are both right.
TEST(OnnxSymbols, RandomShapeArithmetic) {
    std::mt19937 random(7);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 60; ++round) {
        OnnxBuilder model;
        model.symbolic_input("x", test::kOnnxFloat, {"n", "4", "t"});
        model.output("y", test::kOnnxInt64, {});
        model.node(OnnxNode("Shape", {"x"}, {"v0"}));
        int made = 1;
        for (int step = 0; step < 5; ++step) {
            const std::string constant = "c" + std::to_string(step);
            model.initializer(ints(constant.c_str(), {below(7) - 3, below(3) + 1, below(9) - 4}));
            const char* ops[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod"};
            const std::string other = below(2) == 0 ? constant : "v" + std::to_string(below(made));
            model.node(OnnxNode(ops[below(7)], {"v" + std::to_string(made - 1), other},
                                {"v" + std::to_string(made)}));
            ++made;
        }
        model.node(OnnxNode("Identity", {"v" + std::to_string(made - 1)}, {"y"}));
        expect_same(model, "x",
                    [](const auto& at) {
                        return std::vector<int64_t>{at.at("n"), 4, at.at("t")};
                    },
                    {{{"n", 1}, {"t", 1}}, {{"n", 3}, {"t", 2}}, {{"n", 9}, {"t", 9}}});
    }
}

/// Random factors in a random order make both shapes; a symbol may be the outermost extent.
TEST(OnnxSymbols, RandomReshapes) {
    std::mt19937 random(5);
    const auto shape_of = [&](std::vector<int64_t> factors) {
        std::vector<int64_t> shape;
        for (const int64_t factor : factors) {
            if (shape.empty() || random() % 2 == 0)
                shape.push_back(factor);
            else
                shape.back() *= factor;
            if (random() % 4 == 0) shape.push_back(1);
        }
        return shape;
    };
    for (int round = 0; round < 80; ++round) {
        const std::vector<int64_t> factors = {2, 3, 2, 5};
        std::vector<int64_t> from = shape_of(factors), to = shape_of(factors);
        std::vector<std::string> symbolic = {"n"};
        for (const int64_t extent : from) symbolic.push_back(std::to_string(extent));
        to.insert(to.begin(), -1);
        const OnnxBuilder model = OnnxBuilder()
                                      .symbolic_input("x", test::kOnnxFloat, symbolic)
                                      .output("y", test::kOnnxFloat, {})
                                      .initializer(ints("s", to))
                                      .node(OnnxNode("Reshape", {"x", "s"}, {"y"}));
        from.insert(from.begin(), 0);
        to.erase(to.begin());
        for (const int64_t n : {1, 3}) {
            from.front() = n;
            const TensorData x{from, test::counted(static_cast<size_t>(60 * n))};
            const TensorData y =
                test::run(imported(model, {.dims = {{"n", {1, 9}}}}), {{"x", x}}, {{"n", n}}).at(0);
            std::vector<int64_t> expected = to;
            expected.insert(expected.begin(), n);
            EXPECT_EQ(y.shape, expected);
            EXPECT_EQ(y.values, x.values);
        }
    }
}

/// The bounds of a symbol decide where a slice ends, or the node is refused.
TEST(OnnxSymbols, SlicesUpToASymbol) {
    const auto model = [](int64_t length) {
        return OnnxBuilder()
            .symbolic_input("x", test::kOnnxFloat, {"n"})
            .output("y", test::kOnnxFloat, {})
            .initializer(test::onnx_tensor<float>("table", test::kOnnxFloat, {length},
                                                  std::vector<float>(static_cast<size_t>(length), 1)))
            .initializer(ints("zero", {0}))
            .node(OnnxNode("Shape", {"x"}, {"s"}))
            .node(OnnxNode("Slice", {"table", "zero", "s"}, {"y"}));
    };
    const ImportedModel fits = imported(model(9), {.dims = {{"n", {1, 9}}}});
    EXPECT_EQ(test::run(fits, {{"x", {{4}, {0, 0, 0, 0}}}}, {{"n", 4}}).at(0).shape, std::vector<int64_t>{4});
    const ImportedModel open = imported(model(8), {.dims = {{"n", {1, 9}}}});
    ASSERT_EQ(open.unsupported.size(), 1U);
    EXPECT_THAT(print(open.unsupported[0]), HasSubstr("has the bound n along axis 0 of 8"));
}

TEST(OnnxSymbols, WhatMultipliesSymbolsIsRefused) {
    const ImportedModel model = imported(OnnxBuilder()
                                             .symbolic_input("x", test::kOnnxFloat, {"n", "t"})
                                             .output("y", test::kOnnxFloat, {})
                                             .initializer(ints("all", {-1}))
                                             .node(OnnxNode("Reshape", {"x", "all"}, {"y"})),
                                         {.dims = {{"n", {1, 2}}, {"t", {1, 2}}}});
    ASSERT_EQ(model.unsupported.size(), 1U);
    EXPECT_THAT(print(model.unsupported[0]), HasSubstr("cannot make [n, t] of multiples of [1]"));
}

TEST(OnnxSymbols, PointsNameEverySymbolOnce) {
    const OnnxBuilder model = OnnxBuilder()
                                  .symbolic_input("x", test::kOnnxFloat, {"dyn.0", "t"})
                                  .output("y", test::kOnnxFloat, {})
                                  .node(OnnxNode("Neg", {"x"}, {"y"}));
    ImportOptions options{.dims = {{"dyn.0", {1, 4}}, {"t", {1, 8}}}};
    options.points = {{.name = "small", .weight = 3, .values = {{"dyn.0", 1}, {"t", 2}}}};
    const ImportedModel good = imported(model, options);
    ASSERT_EQ(good.graph.points.size(), 1U);
    EXPECT_EQ(good.graph.points[0].values, (std::map<std::string, int64_t>{{"dyn_0", 1}, {"t", 2}}));
    EXPECT_EQ(good.graph.points[0].weight, 3);
    verify(good.graph, "m.onnx");
    const auto refusal = [&](const std::map<std::string, int64_t>& values) {
        options.points[0].values = values;
        return print(imported(model, options).unsupported.at(0));
    };
    EXPECT_THAT(refusal({{"t", 2}}), HasSubstr("--point `small` has no value for dyn_0"));
    EXPECT_THAT(refusal({{"dyn_0", 5}, {"t", 2}}), HasSubstr("has 5 for dyn_0, expected 1 to 4"));
    EXPECT_THAT(refusal({{"dyn_0", 1}, {"t", 2}, {"u", 2}}),
                HasSubstr("has a value for u, which is no symbol"));
}

TEST(OnnxSymbols, NamesAreTheModelsOrTheGraphs) {
    const OnnxBuilder model = OnnxBuilder()
                                  .symbolic_input("x", test::kOnnxFloat, {"dyn.0", "?"})
                                  .output("y", test::kOnnxFloat, {})
                                  .node(OnnxNode("Neg", {"x"}, {"y"}));
    EXPECT_THAT(print(imported(model).unsupported.at(0)),
                HasSubstr("the symbolic extents dyn_0, x_1, for each"));
    for (const char* name : {"dyn.0", "dyn_0"})
        EXPECT_TRUE(imported(model, {.dims = {{name, {2, 2}}, {"x_1", {3, 3}}}}).unsupported.empty()) << name;
    const ImportedModel misspelled = imported(model, {.dims = {{"dyn", {1, 1}}}});
    EXPECT_THAT(print(misspelled.unsupported.back()), HasSubstr("--dim `dyn` is stated"));
}

}  // namespace
}  // namespace tessera::import::onnx
