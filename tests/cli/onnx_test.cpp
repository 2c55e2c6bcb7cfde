// ONNX models as a user checks, compiles and calls them.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/arrays/npz_bytes.h"
#include "cli/arrays/png_bytes.h"
#include "cli/toy_bench.h"
#include "import/npy/npy_file.h"
#include "import/onnx/onnx_builder.h"

namespace tessera {
namespace {

using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

class OnnxFiles : public ToyBench {
protected:
    template <typename T>
    void save(const std::string& name, ElementType type, const std::vector<int64_t>& shape,
              const std::vector<T>& values) const {
        import::write_npy(path(name), type, shape, std::as_bytes(std::span(values)));
    }
    template <typename T>
    std::vector<T> load(const std::string& name, ElementType type, const std::vector<int64_t>& shape) const {
        const import::NpyFile file = import::NpyFile::open(path(name));
        EXPECT_EQ(file.shape(), shape) << name;
        const std::vector<std::byte> elements = file.elements(type);
        std::vector<T> values(elements.size() / sizeof(T));
        std::memcpy(values.data(), elements.data(), elements.size());
        return values;
    }
    void expect_success(const std::vector<std::string>& arguments) const {
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors << result.output;
    }
};

TEST_F(OnnxFiles, ArePlannedOnChips) {
    const std::vector<float> ones(48 * 32, 1);
    write("model.onnx", OnnxBuilder()
                            .symbolic_input("x", test::kOnnxFloat, {"n", "k"})
                            .output("y", test::kOnnxFloat, {})
                            .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {48, 32}, ones))
                            .node(OnnxNode("MatMul", {"x", "w"}, {"product"}))
                            .node(OnnxNode("Relu", {"product"}, {"y"}))
                            .bytes());
    const std::string chip = TESSERA_SOURCE_DIR "/machines/chips/small-16.toml";
    const auto plan = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"chip", "plan",   "model.onnx", "--chip",
                                              chip,   "--work", "10000"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return tessera(arguments);
    };
    const ProcessResult planned = plan({"--dim", "n=8", "--dim", "k=48"});
    EXPECT_EQ(planned.exit_code, 0) << planned.errors;
    EXPECT_THAT(planned.output, HasSubstr(", 2 operators\n"));
    EXPECT_THAT(planned.output, HasSubstr("0.0 MB read"));
    const ProcessResult open = plan({});
    EXPECT_EQ(open.exit_code, 1);
    EXPECT_THAT(open.errors, HasSubstr("symbolic extents n, k, for each of which --dim n=NUMBER"));
    EXPECT_THAT(plan({"--set", "n=8"}).errors, HasSubstr("`--set`: is for graphs (.ir): ONNX has --dim"));
    EXPECT_THAT(plan({"--dim", "n=8", "--dim", "k=48", "--batch", "2"}).errors,
                HasSubstr("`--batch`: is for models: ONNX has"));
    EXPECT_THAT(plan({"--dim", "n=0"}).errors, HasSubstr("n"));
    EXPECT_NE(plan({"--dim", "n=0"}).exit_code, 0);
}

/// Integers of 64 bits, truths, and a scalar: types and shapes of files are those of the model.
TEST_F(OnnxFiles, TypesAndScalarsOfTheModel) {
    write("model.onnx", OnnxBuilder()
                            .input("a/b", test::kOnnxInt64, {2})
                            .input("limit", test::kOnnxInt64, {})
                            .output("sum", test::kOnnxInt64, {})
                            .output("is.less", test::kOnnxBool, {2})
                            .initializer(test::onnx_tensor<int64_t>("axes", test::kOnnxInt64, {1}, {0}))
                            .node(OnnxNode("ReduceSum", {"a/b", "axes"}, {"sum"}).integer("keepdims", 0))
                            .node(OnnxNode("Less", {"a/b", "limit"}, {"is.less"}))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q"});
    constexpr int64_t kLarge = int64_t{1} << 60;
    save<int64_t>("a.npy", ElementType::kI64, {2}, {kLarge + 1, kLarge + 2});
    save<int64_t>("limit.npy", ElementType::kI64, {}, {kLarge + 2});
    expect_success({"retarget", "model.tsr", "-o", "moved.tsr", "-q"});
    for (const std::string artefact : {"model.tsr", "moved.tsr"}) {
        const std::string out = "out_of_" + artefact;
        expect_success({"run", artefact, "--input", "a/b=a.npy", "--input", "limit=limit.npy", "--out", out});
        EXPECT_EQ(load<int64_t>(out + "/sum.npy", ElementType::kI64, {}),
                  std::vector<int64_t>{2 * kLarge + 3});
        EXPECT_EQ(load<uint8_t>(out + "/is.less.npy", ElementType::kBool, {2}), (std::vector<uint8_t>{1, 0}));
    }
}

/// Of 64 bits without a sign, arithmetic wraps around beyond what has one.
TEST_F(OnnxFiles, Uint64WrapsAround) {
    write("model.onnx", OnnxBuilder()
                            .input("x", test::kOnnxUint64, {2})
                            .output("y", test::kOnnxUint64, {2})
                            .output("z", test::kOnnxUint64, {2})
                            .initializer(test::onnx_tensor<uint64_t>("two", test::kOnnxUint64, {}, {2}))
                            .node(OnnxNode("Sub", {"x", "two"}, {"y"}))
                            .node(OnnxNode("Mul", {"y", "two"}, {"z"}))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q"});
    save<uint64_t>("x.npy", ElementType::kU64, {2}, {0, INT64_MAX});
    expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
    const auto bits_of = [&](const std::string& file) {
        const import::NpyFile made = import::NpyFile::open(path(file));
        std::vector<uint64_t> numbers(2);
        std::memcpy(numbers.data(), made.bytes().data(), made.bytes().size());
        return numbers;
    };
    EXPECT_EQ(bits_of("out/y.npy"), (std::vector<uint64_t>{UINT64_MAX - 1, INT64_MAX - 2}));
    EXPECT_EQ(bits_of("out/z.npy"), (std::vector<uint64_t>{UINT64_MAX - 3, UINT64_MAX - 5}));
}

TEST_F(OnnxFiles, ImagesAndArchivesAreInputs) {
    write("model.onnx", OnnxBuilder()
                            .symbolic_input("x", test::kOnnxFloat, {"n", "3", "2", "1"})
                            .output("y", test::kOnnxFloat, {})
                            .node(OnnxNode("Neg", {"x"}, {"y"}))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q", "--dim", "n=1..3"});
    write("i.png", test::png_bytes(1, 2, PNG_FORMAT_RGB, {0, 51, 102, 153, 204, 255}));
    expect_success({"run", "model.tsr", "--input", "x=i.png", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {1, 3, 2, 1}),
              (std::vector<float>{0, -153, -51, -204, -102, -255}));
    expect_success({"run", "model.tsr", "--input", "x=i.png", "--pixels", "x=0..5", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {1, 3, 2, 1}),
              (std::vector<float>{0, -3, -1, -4, -2, -5}));

    const std::string bytes(48, '\0');
    const std::string array = import::print_npy_header({"<f4", false, {2, 3, 2, 1}, 0}) + bytes;
    write("a.npz", test::npz_bytes({{"other.npy", "text"}, {"x.npy", array}}, true));
    expect_success({"run", "model.tsr", "--input", "x=a.npz", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {2, 3, 2, 1}), std::vector<float>(12, 0));

    const auto problem = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"run", "model.tsr", "--out", "out"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = tessera(arguments);
        EXPECT_NE(result.exit_code, 0);
        return result.errors;
    };
    write("large.png", test::png_bytes(2, 2, PNG_FORMAT_GRAY, {1, 2, 3, 4}));
    EXPECT_THAT(problem({"--input", "x=large.png"}),
                HasSubstr("has 2 x 2 pixels of 1 channel, expected an array of [n, 3, 2, 1]"));
    EXPECT_THAT(problem({"--input", "x=i.png", "--pixels", "x=1"}), HasSubstr("expected LOW..HIGH"));
    EXPECT_THAT(problem({"--input", "x=i.png", "--pixels", "y=0..1"}),
                HasSubstr("for which there is no --input"));
    EXPECT_THAT(problem({"--input", "x=a.npz", "--pixels", "x=0..1"}), HasSubstr("is no PNG image"));
    write("b.npz", test::npz_bytes({{"a.npy", array}, {"b.npy", array}}, false));
    EXPECT_THAT(problem({"--input", "x=b.npz"}), HasSubstr("it has a, b"));
    write("huge.npz", test::npz_bytes({{"x.npy", std::string(1 << 20, 'x')}}, true));
    EXPECT_THAT(problem({"--input", "x=huge.npz"}), HasSubstr("has 1048576 bytes, expected at most"));
}

TEST_F(OnnxFiles, OneModelForSeveralExtents) {
    write("model.onnx", OnnxBuilder()
                            .symbolic_input("x", test::kOnnxFloat, {"n"})
                            .output("y", test::kOnnxFloat, {})
                            .node(OnnxNode("Neg", {"x"}, {"y"}))
                            .bytes());
    const ProcessResult refused = tessera({"compile", "model.onnx", "-o", "model.tsr", "-q"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("--dim n=NUMBER"));
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q", "--dim", "n=1..3"});
    for (const int64_t n : {1, 3}) {
        save<float>("x.npy", ElementType::kF32, {n}, std::vector<float>(static_cast<size_t>(n), 2));
        expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
        EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {n}),
                  std::vector<float>(static_cast<size_t>(n), -2));
    }
}

TEST_F(OnnxFiles, AnInputThatChoosesABranchIsStated) {
    const auto branch = [](const char* op) {
        return OnnxBuilder().output("r", test::kOnnxFloat, {}).node(OnnxNode(op, {"x"}, {"r"})).graph();
    };
    write("model.onnx", OnnxBuilder()
                            .input("x", test::kOnnxFloat, {2})
                            .input("rate", test::kOnnxInt64, {})
                            .output("y", test::kOnnxFloat, {})
                            .initializer(test::onnx_tensor<int64_t>("slow", test::kOnnxInt64, {}, {8000}))
                            .node(OnnxNode("Equal", {"rate", "slow"}, {"is_slow"}))
                            .node(OnnxNode("If", {"is_slow"}, {"y"})
                                      .graph("then_branch", branch("Neg"))
                                      .graph("else_branch", branch("Exp")))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q", "--constant", "rate=8000"});
    save<float>("x.npy", ElementType::kF32, {2}, {1, 2});
    expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {2}), (std::vector<float>{-1, -2}));
}

TEST_F(OnnxFiles, AnInputMayBeStatedByAList) {
    write("model.onnx", OnnxBuilder()
                            .input("x", test::kOnnxFloat, {2, 3})
                            .input("shape", test::kOnnxInt64, {2})
                            .output("y", test::kOnnxFloat, {3, 2})
                            .node(OnnxNode("Reshape", {"x", "shape"}, {"y"}))
                            .bytes());
    EXPECT_THAT(tessera({"check", "model.onnx", "--constant", "shape=1,2,3"}).output,
                HasSubstr("is stated by 3 numbers, expected 2"));
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q", "--constant", "shape=3,-1"});
    save<float>("x.npy", ElementType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
    expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {3, 2}), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(OnnxFiles, AnAliasIsAStateByTheNameOfTheInput) {
    write("model.onnx", OnnxBuilder()
                            .symbolic_input("past.key", test::kOnnxFloat, {"held", "2"})
                            .input("new", test::kOnnxFloat, {1, 2})
                            .symbolic_input("weights", test::kOnnxFloat, {"1", "total"})
                            .symbolic_output("present.key", test::kOnnxFloat, {"total", "2"})
                            .output("y", test::kOnnxFloat, {1, 2})
                            .node(OnnxNode("Concat", {"past.key", "new"}, {"present.key"}).integer("axis", 0))
                            .node(OnnxNode("MatMul", {"weights", "present.key"}, {"y"}))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q", "--dim", "held=0..3", "--dim",
                    "total=1..4", "--alias", "present.key=past.key"});
    save<float>("past.npy", ElementType::kF32, {4, 2}, {1, 2, 3, 4, 9, 9, 9, 9});
    save<float>("new.npy", ElementType::kF32, {1, 2}, {5, 6});
    save<float>("weights.npy", ElementType::kF32, {1, 3}, {1, 10, 100});
    expect_success({"run", "model.tsr", "--input", "past.key=past.npy", "--input", "new=new.npy", "--input",
                    "weights=weights.npy", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {1, 2}), (std::vector<float>{531, 642}));
    EXPECT_EQ(load<float>("out/past.key.npy", ElementType::kF32, {4, 2}),
              (std::vector<float>{1, 2, 3, 4, 5, 6, 9, 9}));
    EXPECT_THAT(tessera({"compile", "models/tiny", "-o", "x.tsr", "--alias", "a=b"}).errors,
                HasSubstr("`--alias`: is for ONNX models"));
}

/// Windows that leave the input at its end alone, and at both.
TEST_F(OnnxFiles, WindowsThatLeaveTheInput) {
    for (const int64_t before : {0, 1}) {
        write("model.onnx",
              OnnxBuilder()
                  .input("x", test::kOnnxFloat, {1, 1, 4})
                  .output("y", test::kOnnxFloat, {1, 1, 3 + before})
                  .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {1, 1, 3}, {1, 2, 4}))
                  .node(OnnxNode("Conv", {"x", "w"}, {"y"}).integers("pads", {before, 1}))
                  .bytes());
        expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q"});
        save<float>("x.npy", ElementType::kF32, {1, 1, 4}, {1, 2, 3, 4});
        expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
        std::vector<float> expected = {17, 24, 11};
        if (before == 1) expected.insert(expected.begin(), 10);
        EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {1, 1, 3 + before}), expected);
    }
}

/// The product with one-hot rows is a gather; ids that are no row give 0, as far from all rows as they may
/// be.
TEST_F(OnnxFiles, OneHotRowsAreLookedUp) {
    constexpr int64_t kRows = 40, kWidth = 32;
    std::vector<float> table;
    for (int64_t i = 0; i < kRows * kWidth; ++i) table.push_back(static_cast<float>(i));
    std::vector<int64_t> places;
    for (int64_t k = 0; k < kRows; ++k) places.push_back(k);
    const auto float_type = int64_t{test::kOnnxFloat};
    write("model.onnx",
          OnnxBuilder()
              .input("ids", test::kOnnxInt64, {1, 6, 1})
              .output("y", test::kOnnxFloat, {})
              .initializer(test::onnx_tensor<int64_t>("places", test::kOnnxInt64, {kRows}, places))
              .initializer(test::onnx_tensor<float>("table", test::kOnnxFloat, {kRows, kWidth}, table))
              .node(OnnxNode("Equal", {"ids", "places"}, {"is"}))
              .node(OnnxNode("Cast", {"is"}, {"hot"}).integer("to", float_type))
              .node(OnnxNode("MatMul", {"hot", "table"}, {"y"}))
              .bytes());
    expect_success(
        {"compile", "model.onnx", "-o", "model.tsr", "-q", "--search-effort", "1", "--dump", "passes"});
    std::ifstream pass(path("passes/04-rewrite.txt"));
    EXPECT_THAT((std::string{std::istreambuf_iterator<char>(pass), {}}),
                HasSubstr("choose-by-cast-one-hot-left"));
    const std::vector<int64_t> ids = {3, kRows, -1, kRows - 1, INT64_MIN, (int64_t{1} << 32) + 3};
    save<int64_t>("ids.npy", ElementType::kI64, {1, 6, 1}, ids);
    expect_success({"run", "model.tsr", "--input", "ids=ids.npy", "--out", "out"});
    const std::vector<float> y = load<float>("out/y.npy", ElementType::kF32, {1, 6, kWidth});
    for (size_t i = 0; i < ids.size(); ++i)
        for (int64_t n = 0; n < kWidth; ++n)
            EXPECT_EQ(y[i * kWidth + static_cast<size_t>(n)],
                      ids[i] >= 0 && ids[i] < kRows ? static_cast<float>(ids[i] * kWidth + n) : 0)
                << ids[i];
}

TEST_F(OnnxFiles, WindowsAlongMultiplesOfASymbol) {
    std::vector<float> weights;
    for (int64_t i = 0; i < 4 * 2 * 9; ++i) weights.push_back(static_cast<float>(i % 5) - 2);
    write("model.onnx",
          OnnxBuilder()
              .symbolic_input("x", test::kOnnxFloat, {"1", "2", "6", "wide"})
              .output("y", test::kOnnxFloat, {})
              .initializer(test::onnx_tensor<float>("w", test::kOnnxFloat, {4, 2, 3, 3}, weights))
              .node(OnnxNode("Conv", {"x", "w"}, {"c"})
                        .integers("strides", {2, 2})
                        .integers("pads", {1, 1, 1, 1}))
              .node(OnnxNode("Relu", {"c"}, {"y"}))
              .bytes());
    expect_success({"compile", "model.onnx", "-o", "open.tsr", "-q", "--dim", "wide=8..40:8"});
    for (const int64_t wide : {8, 24, 40}) {
        std::vector<float> x;
        for (int64_t i = 0; i < 12 * wide; ++i) x.push_back(static_cast<float>(i * i % 11) - 5);
        save<float>("x.npy", ElementType::kF32, {1, 2, 6, wide}, x);
        expect_success(
            {"compile", "model.onnx", "-o", "one.tsr", "-q", "--dim", fmt::format("wide={}", wide)});
        expect_success({"run", "open.tsr", "--input", "x=x.npy", "--out", "open"});
        expect_success({"run", "one.tsr", "--input", "x=x.npy", "--out", "one"});
        EXPECT_EQ(load<float>("open/y.npy", ElementType::kF32, {1, 4, 3, wide / 2}),
                  load<float>("one/y.npy", ElementType::kF32, {1, 4, 3, wide / 2}));
    }
    save<float>("x.npy", ElementType::kF32, {1, 2, 6, 12}, std::vector<float>(144));
    EXPECT_THAT(tessera({"run", "open.tsr", "--input", "x=x.npy", "--out", "open"}).errors,
                HasSubstr("has 12 along axis 3 of [1, 2, 6, 12], expected a multiple of 8"));
    EXPECT_THAT(tessera({"compile", "model.onnx", "-o", "open.tsr", "--dim", "wide=8..40:0"}).errors,
                HasSubstr("expected N, LOW..HIGH or LOW..HIGH:STEP"));
}

TEST_F(OnnxFiles, ArraysWithoutElements) {
    write("model.onnx", OnnxBuilder()
                            .input("x", test::kOnnxFloat, {2, 0})
                            .output("y", test::kOnnxFloat, {2})
                            .output("z", test::kOnnxFloat, {2, 0})
                            .initializer(test::onnx_tensor<int64_t>("axes", test::kOnnxInt64, {1}, {1}))
                            .node(OnnxNode("ReduceSum", {"x", "axes"}, {"y"}).integer("keepdims", 0))
                            .node(OnnxNode("Neg", {"x"}, {"z"}))
                            .bytes());
    expect_success({"compile", "model.onnx", "-o", "model.tsr", "-q"});
    save<float>("x.npy", ElementType::kF32, {2, 0}, {});
    expect_success({"run", "model.tsr", "--input", "x=x.npy", "--out", "out"});
    EXPECT_EQ(load<float>("out/y.npy", ElementType::kF32, {2}), (std::vector<float>{0, 0}));
    EXPECT_EQ(load<float>("out/z.npy", ElementType::kF32, {2, 0}), std::vector<float>());
}

TEST_F(OnnxFiles, CheckNamesAllThatIsNotSupported) {
    write("model.onnx", OnnxBuilder()
                            .input("x", test::kOnnxFloat, {2})
                            .output("y", test::kOnnxInt64, {})
                            .output("z", test::kOnnxFloat, {})
                            .node(OnnxNode("NonZero", {"x"}, {"y"}))
                            .node(OnnxNode("Multinomial", {"x"}, {"z"}))
                            .bytes());
    const ProcessResult result = tessera({"check", "model.onnx"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, HasSubstr("NonZero of opset 17: is not supported"));
    EXPECT_THAT(result.output, HasSubstr("Multinomial of opset 17: is not supported"));
}

}  // namespace
}  // namespace tessera
