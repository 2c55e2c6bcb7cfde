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
    return {OnnxBuilder()
                .input("x", test::kOnnxFloat, {1, 4, 6, 5})
                .output("y", test::kOnnxFloat, {1, 2, 3, 5})
                .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {2, 2, 2, 1},
                                                      std::vector<float>(8, 0.5F)))
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
                .bytes()};
}
