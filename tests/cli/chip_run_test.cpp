// `tessera chip run`: the checkpoint that ships, executed on the small chip.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "support/mapped_file.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kProductOnAChip = R"(graph "g"
symbol T in 1..64
input x: f32[T, 48]
constant w: f32[32, 48] from "w"
value y: f32[T, 32]

block all
  node y(x, w) -> y
    op product(t: T, n: 32, k*: 48)
    dim T in 1..64
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)

output y
)";

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

TEST(ChipRun, ExecutesAGraphAndItsEditedProgram) {
    const TemporaryFolder folder;
    const std::string graph = folder.path() / "product.ir", program = folder.path() / "program.json";
    const std::string chip = std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml";
    write_file(graph, kProductOnAChip);
    const auto run = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"chip", "run", graph, "--chip", chip, "--set", "T=5"});
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(more)});
    };
    const ProcessResult planned = run({"--out", program});
    ASSERT_EQ(planned.exit_code, 0) << planned.errors;
    EXPECT_THAT(planned.output, HasSubstr("graph       g, 1 operators\nchip        small-16\nplanned "));
    EXPECT_THAT(planned.output, ::testing::ContainsRegex("distance    (0|[0-9.]+e-0[6-9]) of y\n"));

    Json edited = Json::parse(std::string(MappedFile::open(program).text()));
    edited["operators"][0] = {{"plan", {{"cut", {{"n", 4}, {"k", 3}}}}}};
    write_file(program, edited.dump());
    const ProcessResult other = run({"--program", program, "--json", "--seed", "3"});
    ASSERT_EQ(other.exit_code, 0) << other.errors;
    EXPECT_LE(Json::parse(other.output)["distances"]["y"].get<double>(), 1e-6);
    edited["operators"][0]["plan"]["cut"]["n"] = 16;
    write_file(program, edited.dump());
    EXPECT_THAT(run({"--program", program}).errors,
                HasSubstr("operators[0].plan`: cuts y into 48 tiles, and the chip has 16 cores"));
}

// Every map becomes a part of the product before it; the numbers are those of operators apart.
TEST(ChipRun, ExecutesFusedOperators) {
    const TemporaryFolder folder;
    const std::string graph = folder.path() / "fused.ir";
    write_file(graph, R"(graph "g"
symbol T in 1..64
input x: f32[T, 24]
input g: f32[T, 40]
constant w: f32[40, 24] from "w"
constant b: f32[40] from "b"
value y: f32[T, 40]
value z: f32[T, 40]
value u: f32[40, T]

block all
  node y(x, w) -> y
    op product(t: T, n: 40, k*: 24)
    dim T in 1..64
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node z(y, g, b) -> z
    op gated(t: T, n: 40)
    dim T in 1..64
    in X f32[t, n]
    in G f32[t, n]
    in B f32[n]
    out Y f32[t, n] = (X + B) * (G * sigmoid(G))
  node u(z) -> u
    op turned(n: 40, t: T)
    dim T in 1..64
    in X f32[t, n]
    out Y f32[n, t] = max(X, 0) + 0.5

output u
)");
    for (const char* set : {"T=1", "T=7", "T=48"}) {
        for (const char* seed : {"1", "2"}) {
            const auto run = [&](std::vector<std::string> more) {
                more.insert(more.begin(), {"chip", "run", graph, "--chip",
                                           std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml",
                                           "--set", set, "--seed", seed, "--json"});
                return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(more)});
            };
            const ProcessResult apart = run({}), fused = run({"--fuse"});
            ASSERT_EQ(fused.exit_code, 0) << fused.errors;
            const Json one = Json::parse(fused.output), three = Json::parse(apart.output);
            EXPECT_EQ(one["operators"], 1);
            EXPECT_EQ(three["operators"], 3);
            EXPECT_LE(one["distances"]["u"].get<double>(), 1e-6);
            EXPECT_LT(one["simulated"], three["simulated"]) << set;
        }
    }
}

TEST(ChipRun, RefusesWhatItCannotExecute) {
    const ProcessResult pod = chip_run("models/tessera-tiny", "ipu-pod4-hbm.toml", {"-p", "1 + 1 ="});
    EXPECT_EQ(pod.exit_code, 1);
    EXPECT_THAT(pod.errors, HasSubstr("is a pod of 4 chips, and a program of one chip can be executed"));
    const ProcessResult graph = chip_run("models/graph.ir", "small-16.toml", {"-p", "1 + 1 ="});
    EXPECT_EQ(graph.exit_code, 2);
    EXPECT_THAT(graph.errors, HasSubstr("`--prompt`: is for checkpoints: a graph (.ir) has no tokens"));
    const ProcessResult out =
        chip_run("models/tessera-tiny", "small-16.toml", {"-p", "1", "--out", "p.json"});
    EXPECT_EQ(out.exit_code, 2);
    EXPECT_THAT(out.errors, HasSubstr("`--out`: is for graphs (.ir)"));
    EXPECT_THAT(chip_run("models/tessera-tiny", "small-16.toml", {"-p", "1", "--fuse"}).errors,
                HasSubstr("`--fuse`: is for graphs (.ir)"));
    EXPECT_EQ(chip_run("models/tessera-tiny", "small-16.toml", {}).exit_code, 2);
    EXPECT_EQ(chip_run("models/tessera-tiny", "small-16.toml", {"-p", "1", "--tokens", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
