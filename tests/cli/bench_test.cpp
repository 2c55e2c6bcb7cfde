#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/round_machine.h"
#include "machine/machine_text.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

/// The shipped model, compiled once for one worker.
class BenchVerb : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder;
        const ProcessResult result =
            tessera({"compile", TESSERA_SOURCE_DIR "/models/tessera-tiny", "-o", path("tiny.tsr"),
                     "--workers", "1", "--quiet", "--cache-type", "f16"});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    static void TearDownTestSuite() {
        delete folder_;
        folder_ = nullptr;
    }
    static ProcessResult tessera(std::vector<std::string> arguments) {
        std::vector<std::string> all = {"XDG_CACHE_HOME=" + path("cache"), TESSERA_PROGRAM};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return run_process({.program = "/usr/bin/env", .arguments = std::move(all)});
    }
    static ProcessResult bench(std::vector<std::string> more) {
        more.insert(more.begin(), {"bench", path("tiny.tsr")});
        return tessera(more);
    }
    static std::string path(const std::string& name) { return (folder_->path() / name).string(); }

    static inline TemporaryFolder* folder_ = nullptr;
};

// hidden 128, 4 layers, 4 heads of 32 over 2 of the cache, inner 384, vocabulary 363, F32, a tied head.
constexpr int64_t kHidden = 128, kLayers = 4, kHeads = 4, kCacheHeads = 2, kHead = 32, kInner = 384,
                  kVocab = 363;
constexpr int64_t kMatrices =
    kLayers * (2 * kHidden * kHeads * kHead + 2 * kHidden * kCacheHeads * kHead + 3 * kHidden * kInner);
constexpr int64_t kNorms = kLayers * (2 * kHidden + 2 * kHead) + kHidden;

TEST_F(BenchVerb, CountsWhatTheShapesImply) {
    const ProcessResult result =
        bench({"--prefill", "24", "--decode", "3", "--depth", "0,40", "--repeat", "2", "--json", "-"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json document = Json::parse(result.output);
    EXPECT_EQ(document["models"].size(), 1U);
    EXPECT_EQ(document["models"][0]["workers"], 1);
    EXPECT_THAT(document["models"][0]["description"].get<std::string>(),
                HasSubstr("policy default, cache f16, 1 worker, for "));
    ASSERT_EQ(document["cases"].size(), 4U);
    for (const Json& one : document["cases"]) {
        const bool is_prefill = one["test"] == "prefill";
        const int64_t depth = one["depth"], tokens = one["tokens"];
        const int64_t steps = is_prefill ? 1 : tokens;
        EXPECT_EQ(tokens, is_prefill ? 24 : 3);
        EXPECT_EQ(one["seconds"].size(), 2U);
        for (const double seconds : one["seconds"]) EXPECT_GT(seconds, 0);
        EXPECT_TRUE(one["limits"].empty());

        // Cosines and sines of the positions, F32; a step reads every position once.
        const int64_t rotations = tokens * kHead / 2 * 2 * 4;
        EXPECT_EQ(one["weight_bytes"], steps * 4 * (kMatrices + kNorms + kVocab * kHidden) + rotations);
        int64_t positions_read = 0, scores = 0;
        for (int64_t i = 0; i < tokens; ++i) scores += depth + i + 1;
        for (int64_t s = 0; s < steps; ++s) positions_read += depth + (is_prefill ? tokens : s + 1);
        const int64_t position_bytes = kLayers * 2 * kCacheHeads * kHead * 2;
        EXPECT_EQ(one["cache_bytes_read"], positions_read * position_bytes);
        EXPECT_EQ(one["cache_bytes_written"], tokens * position_bytes);

        const int64_t rows = steps;  // of logits
        const int64_t products = 2 * (tokens * kMatrices + rows * kVocab * kHidden);
        const int64_t attention = 2 * 2 * kLayers * kHeads * kHead * scores;
        const int64_t squares =
            2 * (kLayers * tokens * (2 * kHidden + (kHeads + kCacheHeads) * kHead) + rows * kHidden);
        EXPECT_EQ(one["multiply_adds"], products + attention + squares);
        EXPECT_GT(one["flops"], one["multiply_adds"]);
        EXPECT_GT(one["special"], 0);
    }
}

TEST_F(BenchVerb, WeightsAreReadAgainInEveryChunk) {
    const auto weights = [](const std::string& chunk) {
        const ProcessResult result =
            bench({"--prefill", "24", "--decode", "0", "--repeat", "1", "--chunk", chunk, "--json", "-"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return Json::parse(result.output)["cases"][0]["weight_bytes"].get<int64_t>();
    };
    const int64_t rotations = 24 * kHead / 2 * 2 * 4;
    EXPECT_EQ(weights("10") - rotations, 3 * (weights("24") - rotations));
}

TEST_F(BenchVerb, PrintsATableOfEveryModelAndWritesTheFile) {
    std::filesystem::copy_file(path("tiny.tsr"), path("other.tsr"));
    const ProcessResult result =
        tessera({"bench", path("tiny.tsr"), path("other.tsr"), "--prefill", "8", "--decode", "2", "--repeat",
                 "3", "--limits", "--json", path("times.json")});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr(path("tiny.tsr") + ": tessera-tiny, policy default, cache f16"));
    EXPECT_THAT(result.output, HasSubstr("\n\n" + path("other.tsr") + ": tessera-tiny"));
    EXPECT_THAT(result.output, HasSubstr("\n  prefill 8 "));
    EXPECT_THAT(result.output, HasSubstr("\n  decode 2 "));
    EXPECT_THAT(result.output, HasSubstr(" GFLOP/s of F32 multiply-adds"));
    EXPECT_THAT(result.errors, HasSubstr("memory: weights "));
    std::ifstream file(path("times.json"));
    const Json document = Json::parse(file);
    ASSERT_EQ(document["cases"].size(), 4U);
    for (const Json& one : document["cases"]) {
        EXPECT_EQ(one["seconds"].size(), 3U);
        EXPECT_EQ(one["limits"].size(), 3U);
        for (const Json& limits : one["limits"]) EXPECT_GT(limits["bytes_per_second"], 0);
    }
}

TEST_F(BenchVerb, AMeasuredMachinePredictsTheTimes) {
    std::ofstream(path("round.toml")) << machine::print_machine(testing::round_machine());
    const auto cases = [](const std::string& prefill) {
        const ProcessResult result = bench({"--prefill", prefill, "--decode", "2", "--repeat", "1", "--chunk",
                                            "10", "--costs", "--machine", path("round.toml"), "--json", "-"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return Json::parse(result.output)["cases"];
    };
    // A prompt of three whole chunks reads the weights three times.
    const Json once = cases("10"), thrice = cases("30");
    const double chunk = once[0]["predicted_seconds"], token = once[1]["predicted_seconds"];
    EXPECT_GT(token, 0);
    EXPECT_GT(thrice[0]["predicted_seconds"], 2.9 * chunk);
    EXPECT_LT(thrice[0]["predicted_seconds"], 3.5 * chunk);
    EXPECT_EQ(thrice[1]["predicted_seconds"], token) << "no time is looked at";

    const ProcessResult table = bench(
        {"--prefill", "0", "--decode", "2", "--repeat", "1", "--costs", "--machine", path("round.toml")});
    EXPECT_THAT(table.output, HasSubstr("of limit  predicted\n"));
    const ProcessResult described = bench({"--prefill", "8", "--decode", "2", "--costs", "--machine",
                                           TESSERA_SOURCE_DIR "/machines/avx2.toml"});
    EXPECT_EQ(described.exit_code, 1);
    EXPECT_THAT(described.errors, HasSubstr("nothing was measured of this machine"));
}

TEST_F(BenchVerb, PhasesAddUpToWhatIsPredicted) {
    std::ofstream(path("round.toml")) << machine::print_machine(testing::round_machine());
    const ProcessResult result = bench({"--prefill", "10", "--decode", "3", "--repeat", "2", "--phases",
                                        "--costs", "--machine", path("round.toml"), "--json", "-"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    for (const Json& one : Json::parse(result.output)["cases"]) {
        const int64_t steps = one["test"] == "prefill" ? 1 : one["tokens"].get<int64_t>();
        double predicted = 0;
        for (const Json& phase : one["phases"]) {
            EXPECT_EQ(phase["runs"], steps * (phase["block"] == "layer" ? kLayers : 1)) << phase;
            EXPECT_GT(phase["seconds"], 0) << phase;
            EXPECT_EQ(phase["barriers"], 0) << "one worker meets nobody";
            predicted += phase["predicted_seconds"].get<double>();
        }
        EXPECT_NEAR(predicted / one["predicted_seconds"].get<double>(), 1, 1e-9);
    }
    const ProcessResult table = bench({"--prefill", "0", "--decode", "2", "--repeat", "1", "--phases"});
    EXPECT_THAT(table.output, HasSubstr("\ndecode 2, by phase\n"));
    EXPECT_THAT(table.output, HasSubstr("decode head logits\n"));
}

TEST_F(BenchVerb, AMachineThatOtherVerbsAreToldPredictsNothing) {
    const ProcessResult result = run_process(
        {.program = "/usr/bin/env",
         .arguments = {"TESSERA_MACHINE=" TESSERA_SOURCE_DIR "/machines/avx2.toml", TESSERA_PROGRAM, "bench",
                       path("tiny.tsr"), "--prefill", "8", "--decode", "0", "--repeat", "1", "--json", "-"}});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_FALSE(Json::parse(result.output)["cases"][0].contains("predicted_seconds"));
}

TEST_F(BenchVerb, RefusesWhatItCannotTime) {
    const auto expect = [](const ProcessResult& result, int exit_code, const std::string& problem) {
        EXPECT_EQ(result.exit_code, exit_code);
        EXPECT_THAT(result.output, IsEmpty());
        EXPECT_THAT(result.errors, HasSubstr(problem));
    };
    expect(
        bench({"--prefill", "200", "--depth", "100"}), 1,
        "cannot have a context of 300 tokens: the compiled model allows up to 256 (choose a smaller --depth");
    expect(bench({"--depth", "256"}), 1, "cannot have a context of 320 tokens");
    expect(bench({"--prefill", "0", "--decode", "0"}), 1, "has nothing to time");
    expect(bench({"--threads", "1,2"}), 1, "is compiled for 1 worker, and cannot be timed with 1, 2 threads");
    expect(bench({"--repeat", "0"}), 2, "--repeat");
    expect(bench({"--depth", "-1"}), 2, "--depth");
    expect(bench({"--json", path("none/times.json"), "--prefill", "1", "--decode", "0", "--repeat", "1"}), 1,
           "none/times.json");
    expect(tessera({"bench", path("nothing.tsr")}), 1, "does not exist");
}

TEST_F(BenchVerb, APromptIsAsLongAsTheModelAllowsUnlessToldOtherwise) {
    const ProcessResult result = bench({"--decode", "0", "--depth", "0,100", "--repeat", "1", "--json", "-"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    for (const Json& one : Json::parse(result.output)["cases"]) EXPECT_EQ(one["tokens"], 256 - 100);
}

TEST_F(BenchVerb, CompilesAModelForEachNumberOfThreads) {
    const ProcessResult result =
        tessera({"bench", TESSERA_SOURCE_DIR "/models/tessera-tiny", "--threads", "1,2", "--prefill", "4",
                 "--decode", "1", "--repeat", "1", "--phases"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr(", 1 worker, for host\n"));
    EXPECT_THAT(result.output, HasSubstr(", 2 workers, for host\n"));
    EXPECT_THAT(result.output, HasSubstr("%  barriers\n"));
}

}  // namespace
}  // namespace tessera
