#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Copies of the shipped model in which one file is damaged, and malicious files.
class HostileFiles : public ToyBench {
protected:
    void SetUp() override {
        ToyBench::SetUp();
        fs::create_directories(folder_.path() / "model");
        for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"})
            fs::copy(fs::path(TESSERA_SOURCE_DIR) / "models/tessera-tiny" / name, folder_.path() / "model");
    }

    static std::string corpus(const std::string& name) {
        return read(fs::path(TESSERA_SOURCE_DIR) / "tests/fuzz/corpus" / name);
    }
    void damage(const std::string& name, const std::function<void(std::string&)>& change) const {
        std::string bytes = read(folder_.path() / name);
        ASSERT_FALSE(bytes.empty()) << name;
        change(bytes);
        write(name, bytes);
    }

    /// Exit code 1 with one message, which names the file; nothing is left behind.
    void expect_refused(const std::vector<std::string>& arguments, const std::string& file,
                        const std::string& problem) const {
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 1) << result.errors;
        EXPECT_THAT(result.errors, HasSubstr(file));
        EXPECT_THAT(result.errors, HasSubstr(problem));
        EXPECT_THAT(result.errors, Not(HasSubstr("internal error")));
        EXPECT_EQ(result.output, "");
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("out.tsr")));
    }
    void expect_no_model(const std::string& file, const std::string& problem) const {
        expect_refused({"compile", "model", "-o", "out.tsr"}, file, problem);
    }
};

/// Cycles, depths, extents, paths and indices that lead nowhere: `check` answers, and what it accepts
/// compiles or needs more memory than there may be.
TEST_F(HostileFiles, OnnxModels) {
    for (const auto& entry :
         fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "tests/fuzz/corpus/onnx")) {
        const std::string file = entry.path().string();
        const ProcessResult checked = tessera({"check", file});
        EXPECT_THAT(checked.exit_code, ::testing::AnyOf(0, 1)) << file << checked.errors;
        EXPECT_THAT(checked.errors, Not(HasSubstr("internal error"))) << file;
        if (checked.exit_code == 0) continue;
        EXPECT_THAT(checked.output + checked.errors,
                    HasSubstr(checked.errors.empty() ? "unsupported" : file));
        const ProcessResult compiled = tessera({"compile", file, "-o", "out.tsr", "-q"});
        EXPECT_EQ(compiled.exit_code, 1) << file;
        EXPECT_THAT(compiled.errors, HasSubstr(file));
        EXPECT_THAT(compiled.errors, Not(HasSubstr("internal error"))) << file;
    }
}

TEST_F(HostileFiles, TruncatedWeights) {
    damage("model/model.safetensors", [](std::string& bytes) { bytes.resize(bytes.size() - 1); });
    expect_no_model("model/model.safetensors", "data_offsets");
    expect_refused({"check", "model"}, "model/model.safetensors", "data_offsets");
    damage("model/model.safetensors", [](std::string& bytes) { bytes.resize(100); });
    expect_no_model("model/model.safetensors", "claims a header");
}

TEST_F(HostileFiles, ALengthWithOneBitFlipped) {
    damage("model/model.safetensors", [](std::string& bytes) { bytes[6] ^= 0x40; });
    expect_no_model("model/model.safetensors", "claims a header of 18014398");
}

TEST_F(HostileFiles, Settings) {
    damage("model/config.json", [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
    expect_no_model("model/config.json", "is not valid JSON");
    write("model/config.json", corpus("hf_config/nested_lists.json"));
    expect_no_model("model/config.json", "nested more than");
    write("model/config.json", corpus("hf_config/huge_sizes.json"));
    expect_no_model("model/config.json", "is 4611686018427387904");
}

TEST_F(HostileFiles, Shards) {
    fs::remove(folder_.path() / "model/model.safetensors");
    write("model/model.safetensors.index.json", corpus("safetensors_index/parent_folder.json"));
    expect_no_model("model/model.safetensors.index.json", "../../etc/passwd");
    write("model/model.safetensors.index.json",
          R"({"weight_map": {"a": "model-00001-of-00001.safetensors"}})");
    expect_no_model("model-00001-of-00001.safetensors", "is missing");
}

TEST_F(HostileFiles, Gguf) {
    for (const char* name : {"huge_counts", "huge_array", "nested_arrays", "offset_overflow", "overlap"}) {
        write("model.gguf", corpus(std::string("gguf/") + name + ".gguf"));
        expect_refused({"compile", "model.gguf", "-o", "out.tsr"}, "model.gguf", "");
        expect_refused({"check", "model.gguf"}, "model.gguf", "");
    }
}

TEST_F(HostileFiles, Tokenizers) {
    damage("model/tokenizer.json", [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
    expect_refused({"run", "model", "-p", "1 + 1"}, "model/tokenizer.json", "is not valid JSON");
    write("model/tokenizer.json", corpus("tokenizer_json/huge_id.json"));
    expect_refused({"tokenize", "model", "1 + 1"}, "tokenizer.json", "has the id 16777215");
    write("model/tokenizer.json", corpus("tokenizer_json/nested_lists.json"));
    expect_refused({"run", "model", "-p", "1 + 1"}, "model/tokenizer.json", "nest");
}

TEST_F(HostileFiles, PipesAreRefusedBeforeAnybodyWrites) {
    ASSERT_EQ(mkfifo(path("pipe.gguf").c_str(), 0600), 0);
    ASSERT_EQ(mkfifo(path("pipe.tsr").c_str(), 0600), 0);
    write("ids.json", "[1]");
    write("text.txt", "ab");
    for (const char* verb :
         {"run pipe.gguf -p a", "chat pipe.gguf -p a", "serve pipe.gguf --port 0", "embed pipe.gguf -p a",
          "compile pipe.gguf -o out.tsr", "check pipe.gguf", "tokenize pipe.gguf a", "bench pipe.gguf",
          "logits pipe.tsr --ids ids.json --out out.tsr", "verify pipe.tsr --ids ids.json --logits text.txt",
          "perplexity pipe.tsr -f text.txt", "inspect pipe.tsr", "inspect pipe.tsr --distribution",
          "explain pipe.tsr --tensor x", "retarget pipe.tsr -o out.tsr", "run <(cat toy.tsr) -p a"}) {
        const ProcessResult result =
            run_process({.program = "/usr/bin/env",
                         .arguments = {"-C", folder_.path(), "XDG_CACHE_HOME=" + path("cache"), "bash", "-c",
                                       fmt::format("timeout 60 {} {} < /dev/null", TESSERA_PROGRAM, verb)}});
        EXPECT_EQ(result.exit_code, 1) << verb << result.errors;
        EXPECT_THAT(result.errors, HasSubstr("is a pipe, expected a file")) << verb;
    }
    EXPECT_FALSE(fs::exists(path("out.tsr")));
    // Nothing was measured, compiled or digested for it.
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(path("cache"), error))
        EXPECT_TRUE(entry.is_directory()) << entry.path();
}

TEST_F(HostileFiles, Artefacts) {
    const std::string whole = read(folder_.path() / "toy.tsr");
    write("cut.tsr", whole.substr(0, whole.size() - 1));
    expect_refused({"run", "cut.tsr", "-p", "ab"}, "cut.tsr", "truncated");
    std::string flipped = whole;
    flipped[flipped.find("\x7f"
                         "ELF") +
            100] ^= 1;
    write("flipped.tsr", flipped);
    expect_refused({"run", "flipped.tsr", "-p", "ab"}, "flipped.tsr", "`code`: is damaged");
    flipped = whole;
    flipped[40] ^= 1;
    write("flipped.tsr", flipped);
    expect_refused({"inspect", "flipped.tsr"}, "flipped.tsr", "is damaged");
}

TEST_F(HostileFiles, ListsOfIds) {
    write("ids.json", corpus("token_ids/nested_under_key.json"));
    expect_refused({"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.tsr"}, "ids.json", "");
    write("ids.json", corpus("token_ids/huge.json"));
    expect_refused({"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.tsr"}, "ids.json",
                   "expected a token id");
}

TEST_F(HostileFiles, PlansAndMachines) {
    write("plan.toml", corpus("plan/nested_arrays.toml"));
    expect_refused({"compile", "model", "-o", "out.tsr", "--plan", "plan.toml"}, "plan.toml", "");
    write("machine.toml", corpus("machine/inline_tables.toml"));
    expect_refused({"compile", "model", "-o", "out.tsr", "--machine", "machine.toml"}, "machine.toml", "");
}

TEST_F(HostileFiles, OperatorsAndGraphs) {
    write("a.op", corpus("definition/nested.op"));
    expect_refused({"op", "a.op"}, "a.op", "");
    write("a.ir", corpus("graph/huge_repeat.ir"));
    expect_refused({"opt", "--pass", "decompose", "a.ir"}, "a.ir", "");
}

}  // namespace
}  // namespace tessera
