#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/onnx/import_onnx.h"
#include "import/onnx/onnx_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const import::onnx::ImportedModel model = import::onnx::import_onnx(
            import::onnx::parse_model(fuzz::text_of(data, size), "fuzz"), {.dims = {{"n", {1, 4}}}});
        if (model.unsupported.empty()) verify(model.graph, "fuzz");
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    using test::OnnxBuilder;
    using test::OnnxNode;
    const auto branch =
        OnnxBuilder().output("r", test::kOnnxFloat, {2}).node(OnnxNode("Neg", {"x"}, {"r"})).graph();
    const auto loop = OnnxBuilder()
                          .input("turn", test::kOnnxInt64, {})
                          .input("go", test::kOnnxBool, {})
                          .input("a", test::kOnnxFloat, {2})
                          .output("go", test::kOnnxBool, {})
                          .output("b", test::kOnnxFloat, {2})
                          .node(OnnxNode("Add", {"a", "x"}, {"b"}))
                          .graph();
    const auto scan = OnnxBuilder()
                          .input("a", test::kOnnxFloat, {2})
                          .input("e", test::kOnnxFloat, {})
                          .output("b", test::kOnnxFloat, {2})
                          .output("b", test::kOnnxFloat, {2})
                          .node(OnnxNode("Mul", {"a", "e"}, {"b"}))
                          .graph();
    return {
        OnnxBuilder()
            .input("x", test::kOnnxFloat, {1, 4, 6, 5})
            .output("y", test::kOnnxFloat, {1, 2, 3, 5})
            .initializer(
                test::onnx_tensor<float>("w", test::kOnnxFloat, {2, 2, 2, 1}, std::vector<float>(8, 0.5F)))
            .node(OnnxNode("Conv", {"x", "w"}, {"c"}).integer("group", 2).integers("strides", {2, 1}))
            .node(OnnxNode("MaxPool", {"c"}, {"y"}).integers("kernel_shape", {1, 1}))
            .bytes(),
        OnnxBuilder(12)
            .input("x", test::kOnnxFloat, {2, 3})
            .output("y", test::kOnnxFloat, {6})
            .initializer(test::onnx_tensor<int64_t>("s", test::kOnnxInt64, {1}, {-1}))
            .node(OnnxNode("Softmax", {"x"}, {"p"}).integer("axis", 1))
            .node(OnnxNode("Reshape", {"p", "s"}, {"y"}))
            .bytes(),
        OnnxBuilder()
            .symbolic_input("x", test::kOnnxFloat, {"n"})
            .output("y", test::kOnnxFloat, {})
            .node(OnnxNode("Exp", {"x"}, {"y"}))
            .bytes(),
        OnnxBuilder()
            .input("x", test::kOnnxFloat, {2})
            .output("y", test::kOnnxFloat, {2})
            .initializer(test::onnx_tensor<uint8_t>("c", test::kOnnxBool, {}, {1}))
            .node(OnnxNode("If", {"c"}, {"y"}).graph("then_branch", branch).graph("else_branch", branch))
            .bytes(),
        OnnxBuilder()
            .symbolic_input("x", test::kOnnxFloat, {"n", "6"})
            .output("y", test::kOnnxFloat, {})
            .initializer(test::onnx_tensor<int64_t>("zero", test::kOnnxInt64, {1}, {0}))
            .initializer(test::onnx_tensor<int64_t>("tail", test::kOnnxInt64, {2}, {2, -1}))
            .node(OnnxNode("Shape", {"x"}, {"s"}))
            .node(OnnxNode("Gather", {"s", "zero"}, {"b"}))
            .node(OnnxNode("Concat", {"b", "tail"}, {"t"}).integer("axis", 0))
            .node(OnnxNode("Reshape", {"x", "t"}, {"r"}))
            .node(OnnxNode("Slice", {"r", "zero", "b"}, {"y"}))
            .bytes(),
        OnnxBuilder()
            .input("x", test::kOnnxFloat, {2})
            .output("y", test::kOnnxFloat, {2})
            .initializer(test::onnx_tensor<int64_t>("m", test::kOnnxInt64, {}, {3}))
            .node(OnnxNode("Loop", {"m", "", "x"}, {"z"}).graph("body", loop))
            .node(
                OnnxNode("Scan", {"z", "z"}, {"y", "all"}).graph("body", scan).integer("num_scan_inputs", 1))
            .bytes()};
}
