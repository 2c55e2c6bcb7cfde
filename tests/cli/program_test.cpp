// Programs as a user compiles and calls them: random graphs beside the interpreter, and what is refused.
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/toy_bench.h"
#include "import/npy/npy_file.h"
#include "ir/stored_number.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/random_graph.h"
#include "lowering/movement/stored_element.h"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class ProgramFiles : public ToyBench {
protected:
    void save(const std::string& name, ElementType type, const std::vector<TensorData>& repetitions) const {
        std::vector<double> values;
        for (const TensorData& data : repetitions)
            values.insert(values.end(), data.values.begin(), data.values.end());
        std::vector<unsigned char> bytes(values.size() * static_cast<size_t>(bits(type)) / 8);
        for (size_t i = 0; i < values.size(); ++i)
            testing::put_element(bytes.data(), type, static_cast<int64_t>(i), values[i]);
        std::vector<int64_t> shape = repetitions.front().shape;
        if (repetitions.size() > 1) shape.insert(shape.begin(), std::ssize(repetitions));
        import::write_npy(path(name), type, shape, std::as_bytes(std::span(bytes)));
    }
    void save(const std::string& name, const std::vector<int64_t>& shape,
              const std::vector<double>& values) const {
        save(name, ElementType::kF32, {{shape, values}});
    }
    /// A tensor of each repetition.
    std::vector<TensorData> load(const std::string& name, ElementType type, const std::vector<int64_t>& shape,
                                 size_t repetitions = 1) const {
        const import::NpyFile file = import::NpyFile::open(path(name));
        std::vector<int64_t> whole = shape;
        if (repetitions > 1) whole.insert(whole.begin(), static_cast<int64_t>(repetitions));
        EXPECT_EQ(file.shape(), whole) << name;
        const std::vector<std::byte> elements = file.elements(type);
        const size_t each = elements.size() * 8 / static_cast<size_t>(bits(type)) / repetitions;
        std::vector<TensorData> all;
        for (size_t r = 0; r < repetitions; ++r) {
            TensorData data{shape, {}};
            for (size_t i = 0; i < each; ++i)
                data.values.push_back(stored_number(elements, type, r * each + i));
            all.push_back(std::move(data));
        }
        return all;
    }
    void expect_failure(const std::vector<std::string>& arguments, int code,
                        const std::string& problem) const {
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, code) << result.errors;
        EXPECT_THAT(result.errors, HasSubstr(problem));
        EXPECT_THAT(result.output, IsEmpty());
    }
};

/// Graphs of tests/lowering/movement with symbols, indices, repeated blocks, states and constants of many
/// types.
class RandomPrograms : public ProgramFiles {
protected:
    static bool has_arrays_only(const Graph& graph) {
        for (const Value& value : graph.values)
            if (value.kind != ValueKind::kIntermediate && import::npy_type(value.type.element).empty())
                return false;
        return true;
    }

    void compile(const testing::RandomGraph& random, const std::vector<std::string>& more) const {
        write("g.ir", print(random.graph));
        std::vector<std::string> arguments = {"compile", "g.ir", "-o", "g.tsr", "-q"};
        const GraphCall call = random.call(1);
        for (const Value& value : random.graph.values) {
            if (value.kind != ValueKind::kConstant) continue;
            for (int64_t r = 0; r < value.repetitions(); ++r) {
                const std::string file = value.source(r, 0) + ".npy";
                save(file, value.type.element, {call.constant(value, r)});
                arguments.push_back("--constant");
                arguments.push_back(value.source(r, 0) + "=" + file);
            }
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = tessera(arguments);
        ASSERT_EQ(result.exit_code, 0) << result.errors << print(random.graph);
    }

    void expect_computes(const testing::RandomGraph& random, int64_t tokens) const {
        const Graph& graph = random.graph;
        const GraphCall call = random.call(tokens);
        std::vector<std::string> arguments = {"run", "g.tsr", "--out", "results"};
        const auto give = [&](const std::string& name, const std::vector<TensorData>& repetitions) {
            save(name + ".npy", graph[*graph.find(name)].type.element, repetitions);
            arguments.push_back("--input");
            arguments.push_back(fmt::format("{0}={0}.npy", name));
        };
        for (const auto& [name, data] : call.inputs) give(name, {data});
        for (const auto& [name, repetitions] : call.states) give(name, repetitions);
        const ProcessResult result = tessera(arguments);
        ASSERT_EQ(result.exit_code, 0) << result.errors << print(graph);

        const GraphResult expected = interpret_graph(graph, call);
        GraphResult got;
        for (size_t o = 0; o < graph.outputs.size(); ++o) {
            const Value& output = graph[graph.outputs[o]];
            got.outputs.push_back(
                load("results/" + output.name + ".npy", output.type.element, expected.outputs[o].shape)
                    .front());
        }
        for (const auto& [name, repetitions] : expected.states)
            got.states[name] = load("results/" + name + ".npy", graph[*graph.find(name)].type.element,
                                    repetitions.front().shape, repetitions.size());
        constexpr double kSmallestOutput = 0.25;  // the last operator subtracts it
        const testing::Difference worst = testing::difference(got, expected, kSmallestOutput);
        EXPECT_LE(worst.relative, testing::kTolerance) << worst.where << "\n" << print(graph);
    }
};

TEST_F(RandomPrograms, ComputeWhatTheInterpreterDoes) {
    int tried = 0;
    for (uint64_t seed = 1; tried < 5; ++seed) {
        ASSERT_LT(seed, 50U);
        const testing::RandomGraph random = testing::random_graph(seed, 8);
        if (!has_arrays_only(random.graph)) continue;
        SCOPED_TRACE(fmt::format("seed {}", seed));
        compile(random, {"--workers", tried % 2 == 0 ? "1" : "2", "--search-effort", tried < 3 ? "0" : "1"});
        for (const int64_t tokens : {1, 17}) expect_computes(random, tokens);
        ++tried;
    }
}

constexpr const char* kProduct = R"(graph "product"
symbol T in 1..64
input X: f32[T, 3]
constant w: f32[2, 3] from "weights/w"
value Y: f32[T, 2]
block main
  node product(X, w) -> Y
    op matmul(t: T, n: 2, k*: 3)
    dim T in 1..64
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
output Y
)";

constexpr const char* kStore = R"(graph "store"
symbol T in 1..4
input X: bf16[T, 2]
input slot: i32[T]
state cache: bf16[4, 2]
value after: bf16[4, 2]
value Y: f32[2]
block layers repeat 2
  update cache -> after
  node store(slot, X) over cache -> after
    op store(t: T, n: 2)
    dim T in 1..4
    index I i32[t]
    in X bf16[t, n]
    update C bf16[I[t], n] of [4, 2] = X
block last
  node total(X) -> Y
    op total(t*: T, n: 2)
    dim T in 1..4
    in X bf16[t, n]
    out Y f32[n] = sum(X)
output Y
)";

class Programs : public ProgramFiles {
protected:
    void SetUp() override {
        ProgramFiles::SetUp();
        write("product.ir", kProduct);
        save("w.npy", {2, 3}, {1, 0, 0, 0, 1, 1});
        save("x.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
    }
    void compile(const std::string& name, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments = {"compile", name + ".ir", "-o", name + ".tsr", "-q"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = tessera(arguments);
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    void compile_product() const { compile("product", {"--constant", "weights/w=w.npy"}); }
};

TEST_F(Programs, WriteTheirResultsAndTimes) {
    compile_product();
    const ProcessResult result =
        tessera({"run", "product.tsr", "--input", "X=x.npy", "--out", "new/results", "--times", "3"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, MatchesRegex("median of 3 calls: [0-9.]+ us, the fastest [0-9.]+ us\n"));
    EXPECT_THAT(result.errors, HasSubstr("new/results/Y.npy: f32[2, 2]\n"));
    EXPECT_THAT(load("new/results/Y.npy", ElementType::kF32, {2, 2}).front().values,
                ::testing::ElementsAre(1, 5, 4, 11));
}

TEST_F(Programs, PrintWhatTheirKernelsTake) {
    compile_product();
    const ProcessResult result =
        tessera({"run", "product.tsr", "--input", "X=x.npy", "--times", "3", "--phases"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("   us a call  of all  kernel\n"));
    EXPECT_THAT(result.output, HasSubstr(" %  "));
    expect_failure({"run", "product.tsr", "--input", "X=x.npy", "--phases"}, 2, "--phases requires --times");
}

TEST_F(Programs, StatesAreZeroOrGivenAndComeBack) {
    write("store.ir", kStore);
    compile("store");
    save("x.npy", ElementType::kBF16, {{{1, 2}, {1.5, -2}}});
    save("slot.npy", ElementType::kI32, {{{1}, {3}}});
    const std::vector<std::string> call = {"run",     "store.tsr",     "--input", "X=x.npy",
                                           "--input", "slot=slot.npy", "--out",   "out"};
    ASSERT_EQ(tessera(call).exit_code, 0);
    const auto cache = load("out/cache.npy", ElementType::kBF16, {4, 2}, 2);
    for (const TensorData& each : cache)
        EXPECT_THAT(each.values, ::testing::ElementsAre(0, 0, 0, 0, 0, 0, 1.5, -2));
    EXPECT_THAT(load("out/Y.npy", ElementType::kF32, {2}).front().values, ::testing::ElementsAre(1.5, -2));

    save("slot.npy", ElementType::kI32, {{{1}, {0}}});
    std::vector<std::string> again = call;
    again.insert(again.end(), {"--input", "cache=out/cache.npy"});
    ASSERT_EQ(tessera(again).exit_code, 0);
    for (const TensorData& each : load("out/cache.npy", ElementType::kBF16, {4, 2}, 2))
        EXPECT_THAT(each.values, ::testing::ElementsAre(1.5, -2, 0, 0, 0, 0, 1.5, -2));

    save("slot.npy", ElementType::kI32, {{{1}, {4}}});
    expect_failure(call, 1, "`store`: has 4 as the index along axis 0 of `C`, expected 0 to 3, at t = 0");
}

TEST_F(Programs, AreShown) {
    compile_product();
    const ProcessResult shown = tessera({"inspect", "product.tsr"});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.output,
                AllOf(HasSubstr("program     product\n"), HasSubstr("symbol      T in 1..64\n"),
                      HasSubstr("input       X: f32[T, 3]\n"), HasSubstr("output      Y: f32[T, 2]\n"),
                      HasSubstr("operators at the largest sizes\n")));
}

TEST_F(Programs, FollowAPlanAndAnotherMachine) {
    compile_product();
    write("plan.toml", tessera({"inspect", "product.tsr", "--plan"}).output);
    ASSERT_EQ(tessera({"compile", "product.ir", "-o", "again.tsr", "-q", "--constant", "weights/w=w.npy",
                       "--plan", "plan.toml", "--search-effort", "0"})
                  .exit_code,
              0);
    ASSERT_EQ(tessera({"retarget", "product.tsr", "-o", "moved.tsr", "-q"}).exit_code, 0);
    for (const char* artefact : {"again.tsr", "moved.tsr"}) {
        ASSERT_EQ(tessera({"run", artefact, "--input", "X=x.npy", "--out", "out"}).exit_code, 0);
        EXPECT_THAT(load("out/Y.npy", ElementType::kF32, {2, 2}).front().values,
                    ::testing::ElementsAre(1, 5, 4, 11))
            << artefact;
    }
}

TEST_F(Programs, AreNoLanguageModels) {
    compile_product();
    write("ids.json", "[1]");
    const std::string problem = "is a program, not a language model";
    expect_failure({"logits", "product.tsr", "--ids", "ids.json", "--out", "l.bin"}, 1, problem);
    expect_failure({"verify", "product.tsr", "--ids", "ids.json", "--logits", "l.bin"}, 1, problem);
    expect_failure({"bench", "product.tsr"}, 1, problem);
    expect_failure({"run", "product.tsr", "-p", "x"}, 1, "is a program, which cannot continue a text");
    expect_failure({"run", "product.tsr", "--input", "X=x.npy"}, 2, "--out DIR writes them");
    expect_failure({"check", "product.ir"}, 1, "is a program");
    expect_failure({"run", "product.ir", "--input", "X=x.npy", "--out", "out"}, 1,
                   "is a program that is not compiled yet");
}

TEST_F(Programs, LanguageModelsTakeNoArrays) {
    expect_failure({"run", "toy.tsr", "--input", "X=x.npy"}, 2,
                   "toy.tsr: is a language model, which takes a prompt and no arrays");
    expect_failure({"run", "toy.tsr", "-p", "cab", "--times", "3"}, 2, "use --prompt or --ids");
    expect_failure({"compile", std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny", "-o", "o.tsr",
                    "--constant", "w=w.npy"},
                   2, "`--constant`: is for programs (.ir)");
}

TEST_F(Programs, WhatDoesNotFitIsNamed) {
    const auto refuse = [&](const std::vector<std::string>& more, const std::string& problem) {
        std::vector<std::string> arguments = {"compile", "product.ir", "-o", "o.tsr", "-q"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_failure(arguments, 1, problem);
    };
    refuse({},
           "product.ir: has constants without contents: weights/w: f32[2, 3] (give each a file: --constant");
    refuse({"--constant", "weights/w=w.npy", "--constant", "v=w.npy"}, "`v`: is the source of no constant");
    write("text.npy", "no array");
    refuse({"--constant", "weights/w=text.npy"}, "text.npy: is not a NumPy file");
    expect_failure(
        {"compile", "product.ir", "-o", "o.tsr", "--constant", "weights/w=w.npy", "--policy", "exact"}, 2,
        "`policy`: is a setting for models, this is a program");
    compile_product();
    const auto refuse_call = [&](const std::string& input, const std::string& problem) {
        expect_failure({"run", "product.tsr", "--input", input, "--out", "out"}, 1, problem);
        EXPECT_FALSE(std::filesystem::exists(path("out/Y.npy")));
    };
    refuse_call("X=w.npy.gone", "w.npy.gone: cannot open the file");
    refuse_call("Z=x.npy", "product.tsr: `Z`: is no input of the program (it takes X: f32[T, 3])");
    save("x.npy", {65, 3}, std::vector<double>(195));
    refuse_call("X=x.npy", "x.npy: `X`: has T = 65 by axis 0 of `X`, expected 1 to 64");
    save("x.npy", ElementType::kI32, {{{1, 3}, {1, 2, 3}}});
    refuse_call("X=x.npy", "x.npy: `X`: has elements `<i4`, expected f32 (`<f4`)");
    expect_failure({"run", "product.tsr", "--times", "1"}, 1, "product.tsr: lacks its input X (--input");
    expect_failure({"run", "product.tsr", "--input", "X"}, 2, "--input: expected NAME=FILE, not 'X'");
    expect_failure({"run", "product.tsr", "--symbol", "T=0"}, 2,
                   "--symbol: expected a whole number, 1 or more");
}

}  // namespace
}  // namespace tessera
