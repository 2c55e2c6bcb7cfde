#include <gmock/gmock.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

/// Adds x to what is carried, and shows the sum of every turn.
OnnxBuilder adding_body() {
    return OnnxBuilder()
        .input("turn", test::kOnnxInt64, {})
        .input("go", test::kOnnxBool, {})
        .input("before", test::kOnnxFloat, {2})
        .output("again", test::kOnnxBool, {})
        .output("after", test::kOnnxFloat, {2})
        .output("shown", test::kOnnxFloat, {2})
        .node(OnnxNode("Identity", {"go"}, {"again"}))
        .node(OnnxNode("Add", {"before", "x"}, {"after"}))
        .node(OnnxNode("Identity", {"after"}, {"shown"}));
}

TEST(OnnxControlFlow, ALoopRunsAsOftenAsItSays) {
    for (const int64_t count : {0, 1, 4}) {
        const ImportedModel model = imported(
            OnnxBuilder()
                .input("x", test::kOnnxFloat, {2})
                .output("sum", test::kOnnxFloat, {2})
                .output("all", test::kOnnxFloat, {count, 2})
                .initializer(test::onnx_tensor<int64_t>("m", test::kOnnxInt64, {}, {count}))
                .node(OnnxNode("Loop", {"m", "", "x"}, {"sum", "all"}).graph("body", adding_body().graph())));
        ASSERT_TRUE(model.unsupported.empty()) << print(model.unsupported.front());
        EXPECT_EQ(model.outputs.at(1).shape, (std::vector<Dim>{count, 2}));
        const auto results = test::run(model, {{"x", {{2}, {1, -2}}}});
        const auto turns = static_cast<double>(count + 1);
        EXPECT_EQ(results.at(0).values, (std::vector<double>{turns, -2 * turns}));
        for (int64_t turn = 0; turn < count; ++turn) {
            const auto sum = static_cast<double>(turn + 2);
            EXPECT_EQ(results.at(1).values.at(static_cast<size_t>(2 * turn)), sum);
            EXPECT_EQ(results.at(1).values.at(static_cast<size_t>(2 * turn + 1)), -2 * sum);
        }
    }
}

/// The condition of the next turn follows from what is carried; the shape of the result from how often it
/// held.
TEST(OnnxControlFlow, ALoopEndsWhenItsConditionDoes) {
    const OnnxBuilder body = OnnxBuilder()
                                 .input("turn", test::kOnnxInt64, {})
                                 .input("go", test::kOnnxBool, {})
                                 .input("before", test::kOnnxInt64, {1})
                                 .output("again", test::kOnnxBool, {})
                                 .output("after", test::kOnnxInt64, {1})
                                 .node(OnnxNode("Add", {"before", "before"}, {"after"}))
                                 .node(OnnxNode("Less", {"after", "limit"}, {"again"}));
    const ImportedModel model =
        imported(OnnxBuilder()
                     .input("x", test::kOnnxFloat, {1})
                     .output("y", test::kOnnxFloat, {8})
                     .initializer(test::onnx_tensor<uint8_t>("yes", test::kOnnxBool, {}, {1}))
                     .initializer(test::onnx_tensor<int64_t>("one", test::kOnnxInt64, {1}, {1}))
                     .initializer(test::onnx_tensor<int64_t>("limit", test::kOnnxInt64, {1}, {7}))
                     .node(OnnxNode("Loop", {"", "yes", "one"}, {"n"}).graph("body", body.graph()))
                     .node(OnnxNode("Expand", {"x", "n"}, {"y"})));
    EXPECT_EQ(test::run(model, {{"x", {{1}, {3}}}}).at(0).values, std::vector<double>(8, 3));
}

TEST(OnnxControlFlow, LoopsThatFollowFromDataOrNeverEndAreRefused) {
    const auto model = [](const std::string& count, const std::string& condition) {
        return imported(OnnxBuilder()
                            .input("x", test::kOnnxFloat, {2})
                            .input("n", test::kOnnxInt64, {})
                            .input("c", test::kOnnxBool, {})
                            .output("y", test::kOnnxFloat, {2})
                            .initializer(test::onnx_tensor<uint8_t>("yes", test::kOnnxBool, {}, {1}))
                            .node(OnnxNode("Loop", {count, condition, "x"}, {"y", "z"})
                                      .graph("body", adding_body().graph())));
    };
    EXPECT_THAT(print(model("n", "").unsupported.at(0)), HasSubstr("`n`, that is not known"));
    EXPECT_THAT(print(model("", "c").unsupported.at(0)), HasSubstr("has a condition that is not known"));
    EXPECT_THAT(print(model("", "").unsupported.at(0)), HasSubstr("never ends"));
    EXPECT_THAT(print(model("", "yes").unsupported.at(0)), HasSubstr("runs more than 10000 times"));
}

/// Running sums along either direction of either axis, by plain loops.
TEST(OnnxControlFlow, Scans) {
    const OnnxBuilder body = OnnxBuilder()
                                 .input("before", test::kOnnxFloat, {2})
                                 .input("element", test::kOnnxFloat, {2})
                                 .output("after", test::kOnnxFloat, {2})
                                 .output("shown", test::kOnnxFloat, {2})
                                 .node(OnnxNode("Add", {"before", "element"}, {"after"}))
                                 .node(OnnxNode("Identity", {"after"}, {"shown"}));
    const TensorData x{{3, 2}, {1, 2, 3, 4, 5, 6}};
    for (const bool is_reversed : {false, true}) {
        const ImportedModel model = imported(OnnxBuilder()
                                                 .input("s", test::kOnnxFloat, {2})
                                                 .input("x", test::kOnnxFloat, {3, 2})
                                                 .output("sum", test::kOnnxFloat, {2})
                                                 .output("all", test::kOnnxFloat, {2, 3})
                                                 .node(OnnxNode("Scan", {"s", "x"}, {"sum", "all"})
                                                           .graph("body", body.graph())
                                                           .integer("num_scan_inputs", 1)
                                                           .integers("scan_input_directions", {is_reversed})
                                                           .integers("scan_output_axes", {-1})));
        const auto results = test::run(model, {{"s", {{2}, {10, 20}}}, {"x", x}});
        EXPECT_EQ(results.at(0).values, (std::vector<double>{19, 32}));
        EXPECT_EQ(results.at(1).shape, (std::vector<int64_t>{2, 3}));
        EXPECT_EQ(results.at(1).values, (is_reversed ? std::vector<double>{15, 18, 19, 26, 30, 32}
                                                     : std::vector<double>{11, 14, 19, 22, 26, 32}));
    }
}

/// Version 8 has a batch in front of everything.
TEST(OnnxControlFlow, ScansOfABatch) {
    const OnnxBuilder body = OnnxBuilder(8)
                                 .input("before", test::kOnnxFloat, {1})
                                 .input("element", test::kOnnxFloat, {1})
                                 .output("after", test::kOnnxFloat, {1})
                                 .output("shown", test::kOnnxFloat, {1})
                                 .node(OnnxNode("Add", {"before", "element"}, {"after"}))
                                 .node(OnnxNode("Identity", {"after"}, {"shown"}));
    const ImportedModel model = imported(OnnxBuilder(8)
                                             .input("s", test::kOnnxFloat, {2, 1})
                                             .input("x", test::kOnnxFloat, {2, 3, 1})
                                             .output("sum", test::kOnnxFloat, {2, 1})
                                             .output("all", test::kOnnxFloat, {2, 3, 1})
                                             .node(OnnxNode("Scan", {"", "s", "x"}, {"sum", "all"})
                                                       .graph("body", body.graph())
                                                       .integer("num_scan_inputs", 1)));
    const auto results =
        test::run(model, {{"s", {{2, 1}, {0, 100}}}, {"x", {{2, 3, 1}, {1, 2, 3, 4, 5, 6}}}});
    EXPECT_EQ(results.at(0).values, (std::vector<double>{6, 115}));
    EXPECT_EQ(results.at(1).values, (std::vector<double>{1, 3, 6, 104, 109, 115}));
}

}  // namespace
}  // namespace tessera::import::onnx
