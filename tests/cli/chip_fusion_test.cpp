// `tessera chip plan --fuse`.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/subprocess.h"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(ChipFusion, FusesOperatorsAndSaysWhatItGains) {
    const auto plan = [](std::vector<std::string> more) {
        const std::string source = TESSERA_SOURCE_DIR;
        more.insert(more.begin(), {"chip", "plan", source + "/models/tessera-tiny", "--chip",
                                   source + "/machines/chips/small-16.toml", "--batch", "4", "--sequence",
                                   "64", "--work", "100000"});
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(more)});
    };
    const Json apart = Json::parse(plan({"--json"}).output);
    const ProcessResult result = plan({"--fuse", "--simulate", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json fused = Json::parse(result.output);
    // Both residuals and the gate, in each of four layers.
    EXPECT_EQ(fused["fusion"]["fused"].size(), 3);
    EXPECT_EQ(fused["positions"].get<size_t>() + 12, apart["positions"].get<size_t>());
    EXPECT_EQ(fused["fusion"]["unfused_total"], apart["total"]);
    EXPECT_EQ(fused["hbm_bytes"], apart["hbm_bytes"]);
    EXPECT_NEAR(fused["simulated"].get<double>(), fused["total"].get<double>(),
                0.05 * fused["total"].get<double>());
    for (const Json& each : fused["fusion"]["apart"]) EXPECT_FALSE(each["reason"].get<std::string>().empty());
    EXPECT_THAT(
        plan({"--fuse"}).output,
        AllOf(HasSubstr("\nfused       3 operators, each in all copies of its block: "),
              HasSubstr("\napart       selected and final_normed_apply: its result is read 2 times\n")));
}

}  // namespace
}  // namespace tessera
