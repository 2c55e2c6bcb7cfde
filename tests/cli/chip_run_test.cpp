// `tessera chip run`: the checkpoint that ships, executed on the small chip.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/subprocess.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

ProcessResult chip_run(const std::string& model, const std::string& chip, std::vector<std::string> more) {
    const std::string source = TESSERA_SOURCE_DIR;
    more.insert(more.begin(),
                {"chip", "run", source + "/" + model, "--chip", source + "/machines/chips/" + chip});
    return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(more)});
}

TEST(ChipRun, AnswersThePromptsOfTheDemo) {
    for (const auto& [prompt, answer] :
         {std::pair("61 + 93 =", "61 + 93 = 154"), std::pair("80 - 11 =", "80 - 11 = 69"),
          std::pair("sort 4 3 8 3 4:", "sort 4 3 8 3 4: 3 3 4 4 8")}) {
        const ProcessResult result =
            chip_run("models/tessera-tiny", "small-16.toml", {"-p", prompt, "--json"});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        const Json json = Json::parse(result.output);
        EXPECT_EQ(json["text"], answer);
        for (const Json& step : json["steps"]) {
            EXPECT_LE(step["distance"].get<double>(), 1e-5);
            EXPECT_LE(step["sram_peak"].get<int64_t>(), 65'536);
            EXPECT_NEAR(step["simulated"].get<double>(), step["planned"].get<double>(),
                        0.1 * step["planned"].get<double>());
        }
    }
}

TEST(ChipRun, PrintsAStepForEachToken) {
    const ProcessResult result =
        chip_run("models/tessera-tiny", "small-16.toml", {"-p", "61 + 93 =", "--tokens", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("model       tessera-tiny\nchip        small-16\n\nstep  tokens"));
    EXPECT_THAT(result.output, HasSubstr("\n   2       1  "));
    EXPECT_THAT(result.output, HasSubstr("\n\ntext        61 + 93 = 1\n"));
}

TEST(ChipRun, RefusesWhatItCannotExecute) {
    const ProcessResult pod = chip_run("models/tessera-tiny", "ipu-pod4-hbm.toml", {"-p", "1 + 1 ="});
    EXPECT_EQ(pod.exit_code, 1);
    EXPECT_THAT(pod.errors, HasSubstr("is a pod of 4 chips, and a program of one chip can be executed"));
    const ProcessResult graph = chip_run("models/graph.ir", "small-16.toml", {"-p", "1 + 1 ="});
    EXPECT_EQ(graph.exit_code, 2);
    EXPECT_THAT(graph.errors, HasSubstr("is a graph, expected a checkpoint"));
    EXPECT_EQ(chip_run("models/tessera-tiny", "small-16.toml", {}).exit_code, 2);
    EXPECT_EQ(chip_run("models/tessera-tiny", "small-16.toml", {"-p", "1", "--tokens", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
