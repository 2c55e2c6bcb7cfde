#include "import/onnx/onnx_model.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "import/onnx/onnx_builder.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import::onnx {
namespace {

using test::OnnxBuilder;
using test::OnnxNode;
using test::ProtoText;

OnnxBuilder relu() {
    return OnnxBuilder()
        .input("x", test::kOnnxFloat, {2, 3})
        .output("y", test::kOnnxFloat, {2, 3})
        .node(OnnxNode("Relu", {"x"}, {"y"}));
}

std::string problem_of(const std::string& bytes, const std::filesystem::path& folder = {}) {
    try {
        (void)parse_model(bytes, "m.onnx", folder);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(OnnxModel, NodesInputsAndOutputs) {
    const std::string bytes = relu().bytes();
    const ModelText model = parse_model(bytes, "m.onnx");
    EXPECT_EQ(model.ir_version, 8);
    EXPECT_EQ(model.opsets.at(""), 17);
    ASSERT_EQ(model.graph.nodes.size(), 1U);
    EXPECT_EQ(model.graph.nodes[0].op_type, "Relu");
    EXPECT_EQ(model.graph.nodes[0].inputs, std::vector<std::string>{"x"});
    ASSERT_TRUE(model.graph.inputs.at(0).shape.has_value());
    EXPECT_EQ(std::get<int64_t>(model.graph.inputs[0].shape->at(1)), 3);
}

TEST(OnnxModel, NumbersInTypedFieldsAreThoseOfRawData) {
    ProtoText typed;
    typed.number(1, 3).number(2, test::kOnnxInt8).text(8, "w");
    for (const int64_t value : {-1, 2, 127}) typed.number(5, value);
    const std::string bytes =
        relu()
            .initializer(typed)
            .initializer(test::onnx_tensor<int8_t>("r", test::kOnnxInt8, {3}, {-1, 2, 127}))
            .bytes();
    const ModelText model = parse_model(bytes, "m.onnx");
    const auto contents = [&](const char* name) {
        const auto all = model.graph.initializers.at(name).contents.bytes;
        return std::vector<std::byte>(all.begin(), all.end());
    };
    EXPECT_EQ(contents("w"), contents("r"));
}

TEST(OnnxModel, ContentsThatDoNotFitTheShapeAreRefused) {
    const std::string bytes =
        relu().initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {3}, {1, 2})).bytes();
    EXPECT_NE(problem_of(bytes).find("has 8 bytes, expected 12"), std::string::npos) << problem_of(bytes);
}

TEST(OnnxModel, HugeShapesAreRefusedBeforeMemoryIsTaken) {
    ProtoText huge;
    huge.number(1, int64_t{1} << 40).number(1, int64_t{1} << 40).number(2, test::kOnnxFloat).text(8, "w");
    EXPECT_NE(problem_of(relu().initializer(huge).bytes()).find("elements"), std::string::npos);
    ProtoText negative;
    negative.number(1, -1).number(2, test::kOnnxFloat).text(8, "w");
    EXPECT_NE(problem_of(relu().initializer(negative).bytes()).find("has the extent -1"), std::string::npos);
}

TEST(OnnxModel, GraphsInGraphsHaveADepth) {
    ProtoText graph;
    for (int i = 0; i < 40; ++i)
        graph = ProtoText().message(1, OnnxNode("If", {"c"}, {"y"}).graph("then_branch", graph).text());
    const std::string bytes = ProtoText().number(1, 8).message(7, graph).bytes();
    EXPECT_NE(problem_of(bytes).find("lies in more than"), std::string::npos);
}

TEST(OnnxModel, CutOffFilesAreRefused) {
    const std::string bytes = relu().bytes();
    for (size_t length = 0; length < bytes.size(); ++length)
        EXPECT_NE(problem_of(bytes.substr(0, length)), "") << length;
}

ProtoText external(std::string_view location, int64_t offset, int64_t length, std::string_view name = "w") {
    ProtoText tensor;
    tensor.number(1, 2).number(2, test::kOnnxFloat).text(8, name).number(14, 1);
    const auto entry = [&](const char* key, std::string_view value) {
        tensor.message(13, ProtoText().text(1, key).text(2, value));
    };
    entry("location", location);
    entry("offset", std::to_string(offset));
    entry("length", std::to_string(length));
    return tensor;
}

TEST(OnnxModel, TensorsInFilesBesideTheModel) {
    const TemporaryFolder folder;
    const float numbers[] = {0, 1.5F, -2};
    std::ofstream(folder.path() / "w.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    const std::string bytes = relu().initializer(external("w.bin", 4, 8)).bytes();
    const ModelText model = parse_model(bytes, "m.onnx", folder.path());
    float first = 0;
    std::memcpy(&first, model.graph.initializers.at("w").contents.bytes.data(), sizeof(first));
    EXPECT_EQ(first, 1.5F);

    // Two tensors may share bytes, which nothing writes; none may leave the file.
    const ModelText both = parse_model(
        relu().initializer(external("w.bin", 0, 8)).initializer(external("w.bin", 4, 8, "v")).bytes(),
        "m.onnx", folder.path());
    EXPECT_EQ(both.graph.initializers.at("w").contents.bytes.data() + 4,
              both.graph.initializers.at("v").contents.bytes.data());
    for (const int64_t offset : {int64_t{8}, int64_t{-4}, INT64_MAX, INT64_MAX - 7})
        EXPECT_NE(problem_of(relu().initializer(external("w.bin", offset, 8)).bytes(), folder.path()), "")
            << offset;
    for (const int64_t length : {int64_t{4}, int64_t{-8}, INT64_MAX})
        EXPECT_NE(problem_of(relu().initializer(external("w.bin", 0, length)).bytes(), folder.path()), "")
            << length;
    EXPECT_NE(
        problem_of(relu().initializer(external("../w.bin", 0, 8)).bytes(), folder.path()).find("outside"),
        std::string::npos);
    EXPECT_NE(
        problem_of(relu().initializer(external("/etc/passwd", 0, 8)).bytes(), folder.path()).find("outside"),
        std::string::npos);
    std::filesystem::create_symlink("/etc/passwd", folder.path() / "link");
    EXPECT_NE(problem_of(relu().initializer(external("link", 0, 8)).bytes(), folder.path()).find("outside"),
              std::string::npos);
}

}  // namespace
}  // namespace tessera::import::onnx
