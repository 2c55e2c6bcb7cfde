// `tessera tiles` as a user runs it.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/shared_data.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

/// L1 holds m = 48 and k = 8, in whose place nothing is read for B.
constexpr const char* kInstance = R"({"name": "example",
 "variables": {"m": [16, 32, 48, 64], "k": [8, 64], "place": [0, 1]},
 "constraints": [{"name": "L1", "most": 4000, "terms": [
     {"coefficient": 64, "powers": {"m": 1}}, {"coefficient": 100, "powers": {"k": 1}, "if": {"place": 1}}]}],
 "multiple": [["m", 16]],
 "objective": [
     {"name": "memory", "terms": [{"coefficient": 10, "powers": {"m": 1}, "trips": [[96, "m"]]},
                                  {"coefficient": 8, "trips": [[128, "k"]], "if": {"place": 0}}]},
     {"name": "compute", "terms": [{"coefficient": 100, "trips": [[96, "m"]]}]}]})";

class Tiles : public ::testing::Test {
protected:
    ProcessResult tiles(const std::string& text, std::vector<std::string> more = {}) const {
        std::ofstream(path()) << text;
        std::vector<std::string> arguments = {"tiles", path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }
    std::string path() const { return (folder_.path() / "t.json").string(); }

private:
    TemporaryFolder folder_;
};

TEST_F(Tiles, PrintsWhatLimits) {
    const ProcessResult result = tiles(kInstance);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output, HasSubstr("status       optimal\n"
                                         "cost         960\n"
                                         "bound        960\n"
                                         "gap          0 %\n"
                                         "nodes        "));
    EXPECT_THAT(result.output, HasSubstr("\nobjective, the largest counts\n"
                                         "  memory     960  limits\n"
                                         "  compute    200  20.8 % of it\n"));
    EXPECT_THAT(result.output, HasSubstr("\nconstraints, the tightest first\n"
                                         "  L1         3872 of 4000, 3.2 % free\n"));
    EXPECT_THAT(result.output, HasSubstr("\nvalues\n"
                                         "  k          8\n"
                                         "  m          48\n"
                                         "  place      1\n"));
}

TEST_F(Tiles, JsonHasEveryField) {
    const ProcessResult result = tiles(kInstance, {"--json"});
    const Json json = Json::parse(result.output);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["cost"], 960);
    EXPECT_EQ(json["bound"], 960);
    EXPECT_EQ(json["gap"], 0);
    EXPECT_GT(json["nodes"], 0);
    EXPECT_EQ(json["values"]["k"], 8);
    EXPECT_EQ(json["values"]["place"], 1);
    EXPECT_EQ(json["values"].size(), 3u);
    EXPECT_EQ(tiles(kInstance, {"--json"}).output, result.output);
}

TEST_F(Tiles, AllFourStatusesAreSuccess) {
    const ProcessResult without_work = tiles(kInstance, {"--json", "--nodes", "0"});
    EXPECT_EQ(without_work.exit_code, 0);
    EXPECT_EQ(Json::parse(without_work.output),
              Json({{"status", "out of budget"}, {"bound", 0}, {"nodes", 0}}));
    std::string text = kInstance;
    text.replace(text.find("4000"), 4, "1000");
    const ProcessResult infeasible = tiles(text, {"--json"});
    EXPECT_EQ(infeasible.exit_code, 0);
    EXPECT_EQ(Json::parse(infeasible.output)["status"], "infeasible");
    EXPECT_FALSE(Json::parse(infeasible.output).contains("bound"));
    EXPECT_THAT(tiles(text).output, HasSubstr("status       infeasible\nnodes "));
}

TEST_F(Tiles, TellsWhatCannotHold) {
    std::string text = kInstance;
    text.replace(text.find("4000"), 4, "1000");
    EXPECT_THAT(tiles(text).output, HasSubstr("\nconstraints that cannot hold with the multiples\n  L1\n"));
    std::string multiples = kInstance;
    multiples.replace(multiples.find("\"m\", 16"), 7, "\"m\", 80");
    EXPECT_THAT(tiles(multiples).output, HasSubstr("\nthe multiples cannot hold together\n"));
    constexpr const char* kTogether = R"({"name": "t", "variables": {"a": [1, 2], "b": [1, 2]},
        "constraints": [{"name": "below", "most": 1, "terms": [{"coefficient": 1, "powers": {"a": 1}}]},
                        {"name": "above", "most": 0.5, "terms": [{"coefficient": 1, "powers": {"a": -1}}]}],
        "objective": [{"name": "o", "terms": []}]})";
    EXPECT_THAT(tiles(kTogether).output,
                HasSubstr("\neach constraint can hold by itself, but not all together\n"));
}

TEST_F(Tiles, ErrorsNameThePlaceAndPrintNothingElse) {
    std::string text = kInstance;
    text.replace(text.find("\"coefficient\": 10,"), 18, "\"coefficient\": -1,");
    const ProcessResult result = tiles(text, {"--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, HasSubstr("tessera tiles: "));
    EXPECT_THAT(result.errors,
                HasSubstr("t.json: `objective memory, term 0`: `coefficient` is -1, expected"));
    const ProcessResult no_json = tiles("{");
    EXPECT_EQ(no_json.exit_code, 1);
    EXPECT_THAT(no_json.output, IsEmpty());
    EXPECT_THAT(no_json.errors, HasSubstr("is not valid JSON"));
}

TEST_F(Tiles, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(tiles(kInstance, {"--nodes", "-1"}).exit_code, 2);
    EXPECT_EQ(tiles(kInstance, {"--nodes", "many"}).exit_code, 2);
    EXPECT_EQ(tiles(kInstance, {"--time", "1"}).exit_code, 2);
    const ProcessResult no_file = run_process({.program = TESSERA_PROGRAM, .arguments = {"tiles"}});
    EXPECT_EQ(no_file.exit_code, 2);
    EXPECT_THAT(no_file.output, IsEmpty());
    const ProcessResult missing =
        run_process({.program = TESSERA_PROGRAM, .arguments = {"tiles", path() + ".none"}});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.output, IsEmpty());
}

TEST_F(Tiles, HelpHasExamples) {
    const ProcessResult result = run_process({.program = TESSERA_PROGRAM, .arguments = {"tiles", "--help"}});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("tessera tiles gemm.json --nodes 1000"));
}

TEST_F(Tiles, SharedInstancesKeepTheirBudget) {
    TESSERA_SKIP_WITHOUT_SHARED("tiles/chain_three_levels_ragged.json", "tessera tiles with a short budget");
    const std::string file = test::shared_data("tiles/chain_three_levels_ragged.json").string();
    const ProcessResult result =
        run_process({.program = TESSERA_PROGRAM, .arguments = {"tiles", file, "--nodes", "300", "--json"}});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["status"], "feasible");
    EXPECT_LE(json["nodes"], 300);
    EXPECT_LE(json["bound"], 10957824);
    EXPECT_GE(json["cost"], 10957824);
    EXPECT_GT(json["gap"], 0);
}

}  // namespace
}  // namespace tessera
