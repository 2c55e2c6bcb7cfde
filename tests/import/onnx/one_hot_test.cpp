// One-hot maps and their tables have the form by which rewriting knows them (docs/rewriting.md).
#include <limits>

#include <gmock/gmock.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;
using ::testing::Not;

const TensorData kIds = {{2, 3, 1}, {0, 4, 2, -1, 5, 3}};

ImportedModel compared(const char* op, const std::vector<int32_t>& with, const std::vector<int64_t>& shape) {
    return imported(OnnxBuilder()
                        .input("ids", test::kOnnxInt32, {2, 3, 1})
                        .output("y", test::kOnnxBool, {})
                        .initializer(test::onnx_tensor<int32_t>("with", test::kOnnxInt32, shape, with))
                        .node(OnnxNode(op, {"ids", "with"}, {"y"})));
}

TEST(OnnxOneHot, PlacesAreNotRead) {
    const ImportedModel model = compared("Equal", {0, 1, 2, 3, 4}, {5});
    EXPECT_THAT(print(model.graph), HasSubstr("= A == x2\n"));
    EXPECT_EQ(test::run(model, {{"ids", kIds}}).at(0).values,
              (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}));
    const ImportedModel columns = compared("Less", {0, 1, 2}, {1, 3, 1});
    EXPECT_THAT(print(columns.graph), HasSubstr("= A < x1\n"));
    EXPECT_EQ(test::run(columns, {{"ids", kIds}}).at(0).values, (std::vector<double>{0, 0, 0, 1, 0, 0}));
}

TEST(OnnxOneHot, OtherNumbersAreRead) {
    for (const std::vector<int32_t>& with :
         std::vector<std::vector<int32_t>>{{0, 1, 2, 4}, {1, 2, 3, 4}, {3, 2, 1, 0}})
        EXPECT_THAT(print(compared("Equal", with, {4}).graph), HasSubstr("= A == B\n"));
    EXPECT_THAT(print(compared("Equal", {0}, {1}).graph), HasSubstr("= A == B\n"));
    EXPECT_THAT(print(compared("Equal", {0, 1, 2, 3, 4, 5}, {1, 3, 2}).graph), HasSubstr("= A == B\n"));
}

TEST(OnnxOneHot, KnownValuesAreLiterals) {
    const auto model = [](float on) {
        return imported(
            OnnxBuilder()
                .input("ids", test::kOnnxInt32, {2, 3, 1})
                .output("y", test::kOnnxFloat, {})
                .initializer(test::onnx_tensor<int32_t>("depth", test::kOnnxInt32, {}, {4}))
                .initializer(test::onnx_tensor<float>("values", test::kOnnxFloat, {2}, {-0.5F, on}))
                .node(OnnxNode("OneHot", {"ids", "depth", "values"}, {"y"})));
    };
    const ImportedModel finite = model(2.5F);
    EXPECT_THAT(print(finite.graph), HasSubstr("select(I == x3 or I + 4 == x3, 2.5, -0.5)"));
    const std::vector<double> y = test::run(finite, {{"ids", kIds}}).at(0).values;
    EXPECT_EQ(std::vector<double>(y.begin(), y.begin() + 8),
              (std::vector<double>{2.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5}));
    EXPECT_EQ(y[15], 2.5);  // -1 is the last place
    EXPECT_THAT(print(model(std::numeric_limits<float>::infinity()).graph), HasSubstr("V[1], V[0]"));
}

TEST(OnnxOneHot, ConstantsSayWhetherTheyAreFinite) {
    const auto model = [](float last) {
        return print(
            imported(OnnxBuilder()
                         .input("x", test::kOnnxFloat, {2})
                         .output("y", test::kOnnxFloat, {})
                         .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {2}, {1, last}))
                         .node(OnnxNode("Mul", {"x", "w"}, {"y"})))
                .graph);
    };
    EXPECT_THAT(model(2), HasSubstr("f32[2] finite from"));
    EXPECT_THAT(model(std::numeric_limits<float>::infinity()), Not(HasSubstr("finite")));
    EXPECT_THAT(model(std::numeric_limits<float>::quiet_NaN()), Not(HasSubstr("finite")));
}

}  // namespace
}  // namespace tessera::import::onnx
