// `tessera explain`: why a tensor lies as it does.

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/round_machine.h"
#include "machine/machine_text.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

class Explaining : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder();
        std::ofstream(path("round.toml")) << machine::print_machine(testing::round_machine());
        const ProcessResult compiled =
            tessera({"compile", std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny", "-o", path("a.tsr"),
                     "--machine", path("round.toml"), "--quiet"});
        ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
    }
    static void TearDownTestSuite() { delete folder_; }

    static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
    static ProcessResult tessera(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"XDG_CACHE_HOME=" + path("cache"), TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }
    static ProcessResult explain(const std::string& tensor, const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments = {"explain", path("a.tsr"), "--tensor",
                                              tensor,    "--machine",   path("round.toml")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return tessera(std::move(arguments));
    }
    static Json json_of(const std::string& tensor) {
        const ProcessResult result = explain(tensor, {"--json"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return Json::parse(result.output);
    }

private:
    static inline TemporaryFolder* folder_ = nullptr;
};

TEST_F(Explaining, AConstantIsReadByTheSameOperatorInAllSpecialisations) {
    const ProcessResult words = explain("layer_gate_weight");
    ASSERT_EQ(words.exit_code, 0) << words.errors;
    EXPECT_THAT(words.output, HasSubstr("layer_gate_weight: constant f32[384, 128]\n\nIt is stored "));
    EXPECT_THAT(words.output, HasSubstr("  layer_gate in decode reads it "));
    EXPECT_THAT(words.output, HasSubstr("  layer_gate in prefill reads it "));
    EXPECT_THAT(
        words.output,
        HasSubstr(
            " at 64 x decode_256 + 1 x batch_4x1 + 1 x batch_1x4 + 1 x prefill_16 + 1 x prefill_256, and "
            "none take less.\n"));

    const Json json = json_of("layer_gate_weight");
    EXPECT_EQ(json["status"], "optimal");
    ASSERT_EQ(json["accounts"].size(), 1u);
    const Json& account = json["accounts"][0];
    EXPECT_TRUE(account["specialisation"].is_null());
    EXPECT_EQ(account["layout"], account["layout_in_artefact"]);
    ASSERT_EQ(account["readers"].size(), 3u);
    for (const Json& reader : account["readers"]) {
        EXPECT_EQ(reader["operator"], "layer_gate");
        EXPECT_EQ(reader["layout"], account["layout"]);
        EXPECT_GT(reader["seconds"], 0);
    }
    const Json& other = account["runner_up"];
    ASSERT_EQ(other["status"], "optimal");
    EXPECT_NE(other["layout"], account["layout"]);
    EXPECT_GE(other["seconds"], json["seconds"]);
    double more = 0;
    for (const Json& change : other["changes"]) {
        if (!change["after"].is_null()) more += change["after"]["seconds"].get<double>();
        if (!change["before"].is_null()) more -= change["before"]["seconds"].get<double>();
    }
    EXPECT_NEAR(more, other["seconds"].get<double>() - json["seconds"].get<double>(), 1e-9);
}

TEST_F(Explaining, AValueHasAnAccountForEachSpecialisation) {
    const Json json = json_of("layer_gate");
    ASSERT_EQ(json["accounts"].size(), 3u);
    EXPECT_EQ(json["accounts"][0]["specialisation"], "decode");
    EXPECT_EQ(json["accounts"][1]["specialisation"], "batch");
    EXPECT_EQ(json["accounts"][2]["specialisation"], "prefill");
    for (const Json& account : json["accounts"]) {
        EXPECT_EQ(account["block"], "layer");
        EXPECT_EQ(account["made_by"]["operator"], "layer_gate");
        EXPECT_GT(account["made_by"]["seconds"], 0);
        EXPECT_GE(account["runner_up"]["seconds"], json["seconds"]);
        EXPECT_NE(account["runner_up"]["layout"], account["layout"]);
    }
    EXPECT_THAT(explain("layer_gate").output, HasSubstr("\nIn prefill, block layer (4 times), it is "));
}

TEST_F(Explaining, WhatTheSearchLeavesAloneSaysWhy) {
    EXPECT_THAT(explain("layer_q_heads").output,
                HasSubstr("The search leaves it alone: its operator only renames elements."));
    EXPECT_THAT(explain("layer_k_cache_update_new").output,
                HasSubstr("The search leaves it alone: it updates a state."));
    EXPECT_THAT(explain("tokens").output, HasSubstr("The search leaves it alone: the block is given it so."));
}

TEST_F(Explaining, AnUnknownTensorIsAnErrorWithNearNames) {
    const ProcessResult result = explain("layer_gate_wieght");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, HasSubstr("`layer_gate_wieght`: is no tensor of the graph"));
    EXPECT_THAT(result.errors, HasSubstr("did you mean layer_gate_weight"));
    EXPECT_THAT(explain("zzzzzzzzzz").errors, HasSubstr("`tessera inspect OUT.tsr --graph` shows them"));
}

TEST_F(Explaining, NeedsTheMachineAndATensor) {
    const ProcessResult other = tessera({"explain", path("a.tsr"), "--tensor", "layer_gate"});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.errors, HasSubstr("`--tensor`: is for machine round ("));
    machine::Machine described = testing::round_machine();
    described.micro_kernels.clear();
    std::ofstream(path("no-rates.toml")) << machine::print_machine(described);
    const ProcessResult unmeasured =
        tessera({"explain", path("a.tsr"), "--tensor", "layer_gate", "--machine", path("no-rates.toml")});
    EXPECT_EQ(unmeasured.exit_code, 0) << unmeasured.errors;
    EXPECT_THAT(unmeasured.output, HasSubstr("roofs that such a machine typically has: it was not measured"));
    EXPECT_EQ(tessera({"explain", path("a.tsr")}).exit_code, 2);
    EXPECT_EQ(explain("layer_gate", {"--search-effort", "0"}).exit_code, 2);
}

TEST_F(Explaining, AnotherDecisionThanTheArtefactsIsSaid) {
    EXPECT_THAT(explain("layer_gate_weight").output, Not(HasSubstr("The artefact has it")));
    // Vectors of sixteen lanes, where the artefact's machine has four.
    const std::string other = std::string(TESSERA_SOURCE_DIR) + "/docs/measurements/zen4.toml";
    const ProcessResult result =
        tessera({"explain", path("a.tsr"), "--tensor", "layer_gate_weight", "--machine", other});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("It is stored lanes <0:16>, "));
    EXPECT_THAT(result.output, HasSubstr("  The artefact has it "));
}

}  // namespace
}  // namespace tessera
