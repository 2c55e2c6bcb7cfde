// Outputs that are inputs with rows appended: one state, to which a step writes the new rows.
#include <gmock/gmock.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

constexpr int64_t kMost = 4;  // rows

/// past [2, held, 1] and new [2, 1, 1] to present [2, total, 1]; y [2, 1, 1] = weights [2, 1, total] present.
OnnxBuilder decoder() {
    return OnnxBuilder()
        .symbolic_input("past", test::kOnnxFloat, {"2", "held", "1"})
        .input("new", test::kOnnxFloat, {2, 1, 1})
        .symbolic_input("weights", test::kOnnxFloat, {"2", "1", "total"})
        .symbolic_output("present", test::kOnnxFloat, {"2", "total", "1"})
        .output("y", test::kOnnxFloat, {2, 1, 1});
}
OnnxNode joined(const std::vector<std::string>& parts, const char* result) {
    return OnnxNode("Concat", parts, {result}).integer("axis", 1);
}
OnnxNode weighted(const char* rows) {
    return {"MatMul", {"weights", rows}, {"y"}};
}
ImportOptions aliased() {
    return {.dims = {{"held", {0, kMost - 1}}, {"total", {1, kMost}}},
            .constants = {},
            .aliases = {{"present", "past"}},
            .points = {}};
}
std::string refusal(const OnnxBuilder& model, const ImportOptions& options = aliased()) {
    const ImportedModel result = imported(model, options);
    return result.unsupported.empty() ? "" : print(result.unsupported.front());
}

TEST(OnnxAliases, StepsMeanWhatTheWholeModelMeans) {
    const OnnxBuilder model = decoder().node(joined({"past", "new"}, "present")).node(weighted("present"));
    const ImportedModel steps = imported(model, aliased());
    ASSERT_TRUE(steps.unsupported.empty()) << print(steps.unsupported.front());
    verify(steps.graph, "m.onnx");
    ASSERT_EQ(steps.states.size(), 1U);
    EXPECT_EQ(steps.states[0].name, "past");
    EXPECT_EQ(steps.states[0].shape, (std::vector<Dim>{Dim(2), Dim(kMost), Dim(1)}));
    EXPECT_EQ(steps.outputs.size(), 1U);

    GraphStates states = zero_states(steps.graph, {{"total", 1}});
    std::vector<double> first, second;  // rows of both sequences
    for (int64_t total = 1; total <= kMost; ++total) {
        const auto row = static_cast<double>(total);
        const TensorData rows{{2, 1, 1}, {row, -10 * row}};
        const TensorData weights{{2, 1, total}, test::counted(static_cast<size_t>(2 * total), 1, 0.5)};
        GraphCall call;
        call.symbols = {{"total", total}};
        call.inputs = {{"new", rows}, {"weights", weights}};
        call.states = states;
        const GraphResult result = interpret_graph(steps.graph, call);
        states = result.states;

        ImportOptions whole = aliased();
        whole.aliases.clear();
        whole.dims = {{"held", {total - 1, total - 1}}, {"total", {total, total}}};
        TensorData past{{2, total - 1, 1}, first};
        past.values.insert(past.values.end(), second.begin(), second.end());
        const std::vector<TensorData> expected =
            test::run(imported(model, whole), {{"past", past}, {"new", rows}, {"weights", weights}});
        EXPECT_EQ(result.outputs.at(0).values, expected.at(1).values) << total;
        first.push_back(rows.values[0]);
        second.push_back(rows.values[1]);
    }
}

TEST(OnnxAliases, TheShapeOfAnInputIsThatOfItsRows) {
    const ImportedModel model =
        imported(decoder()
                     .output("held_rows", test::kOnnxInt64, {1})
                     .node(OnnxNode("Shape", {"past"}, {"held_rows"}).integer("start", 1).integer("end", 2))
                     .node(joined({"past", "new"}, "present"))
                     .node(weighted("present")),
                 aliased());
    ASSERT_TRUE(model.unsupported.empty()) << print(model.unsupported.front());
    GraphCall call;
    call.symbols = {{"total", 3}};
    call.inputs = {{"new", {{2, 1, 1}, {1, 1}}}, {"weights", {{2, 1, 3}, test::counted(6)}}};
    call.states = zero_states(model.graph, call.symbols);
    EXPECT_EQ(interpret_graph(model.graph, call).outputs.at(1).values, std::vector<double>{2});
}

TEST(OnnxAliases, WhatIsNoAppendingIsRefusedByName) {
    EXPECT_THAT(refusal(decoder().node(joined({"new", "past"}, "present")).node(weighted("present"))),
                HasSubstr("reads `past`, which is aliased"));
    EXPECT_THAT(refusal(decoder()
                            .node(joined({"past", "new"}, "present"))
                            .node(OnnxNode("Relu", {"past"}, {"other"}))
                            .node(weighted("present"))),
                HasSubstr("reads `past`, which is aliased"));
    EXPECT_THAT(refusal(decoder()
                            .node(joined({"past", "new"}, "present"))
                            .node(joined({"past", "new"}, "twice"))
                            .node(weighted("twice"))),
                HasSubstr("appends once more to `past`"));
    EXPECT_THAT(refusal(decoder()
                            .node(joined({"past", "new"}, "rows"))
                            .node(OnnxNode("Relu", {"rows"}, {"present"}))
                            .node(weighted("rows"))),
                HasSubstr("--alias `present` is not what `past` holds with rows appended"));
    EXPECT_THAT(refusal(decoder()
                            .node(joined({"new", "new"}, "both"))
                            .node(joined({"past", "both"}, "present"))
                            .node(weighted("present"))),
                HasSubstr("appends 2 of FLOAT, expected 1 of FLOAT, to `past`"));
}

TEST(OnnxAliases, PairsThatDoNotFitAreRefusedByName) {
    const OnnxBuilder model = decoder().node(joined({"past", "new"}, "present")).node(weighted("present"));
    const auto with = [&](const std::string& output, const std::string& input) {
        ImportOptions options = aliased();
        options.aliases = {{output, input}};
        return refusal(model, options);
    };
    EXPECT_THAT(with("nothing", "past"), HasSubstr("names `nothing`, which is no output"));
    EXPECT_THAT(with("present", "nothing"), HasSubstr("names `nothing`, which is no input"));
    EXPECT_THAT(with("y", "past"), HasSubstr("has 0 axes along which both"));
    ImportOptions apart = aliased();
    apart.dims["held"] = {0, kMost};
    EXPECT_THAT(refusal(model, apart), HasSubstr("expected the same number of rows more at both ends"));
}

}  // namespace
}  // namespace tessera::import::onnx
