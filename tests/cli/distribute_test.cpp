// `tessera distribute` as a user runs it.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr const char* kGraph = R"(op product(m: 2, n: 64, k*: 16)
in  A f32[m, k], W f32[k, n]
out C f32[m, n] = sum(A * W)

devices 4 alpha 1e-7 beta 1e-10
compute flops 1e9 bytes 1e9
memory 3000
constant W
input A B
output C B
)";

class Distribute : public ::testing::Test {
protected:
    ProcessResult distribute(const std::string& text, std::vector<std::string> more = {}) const {
        std::ofstream(path()) << text;
        std::vector<std::string> arguments = {"distribute", path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }
    static std::string with_memory(const std::string& memory) {
        std::string text = kGraph;
        return text.replace(text.find("3000"), 4, memory);
    }
    std::string path() const { return (folder_.path() / "g.dist").string(); }

private:
    TemporaryFolder folder_;
};

TEST_F(Distribute, PrintsChoicesFormsAndBoxes) {
    const ProcessResult result = distribute(kGraph);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output, HasSubstr("status          optimal\n"
                                         "cost            1.6184e-06 s\n"));
    EXPECT_THAT(result.output, HasSubstr("memory          1792 bytes of 3000\n"));
    EXPECT_THAT(result.output, HasSubstr("\noperators\n"
                                         "  product       n "));
    EXPECT_THAT(result.output, HasSubstr("\nvalues\n"
                                         "  A             [B]                 128 bytes\n"
                                         "  W             [S(1)]             1024 bytes\n"
                                         "  C             [S(1)]              128 bytes\n"
                                         "                [S(1)] -> [B]       512 bytes"));
    EXPECT_THAT(result.output, HasSubstr("all-gather, level 0\n"));
}

TEST_F(Distribute, JsonHasEveryField) {
    const ProcessResult result = distribute(kGraph, {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_NEAR(json["cost"], 1.6184e-6, 1e-15);
    EXPECT_NEAR(json["bound"], 1.6184e-6, 1e-15);
    EXPECT_EQ(json["memory"], 1792);
    EXPECT_GT(json["nodes"], 0);
    EXPECT_EQ(json["operators"], Json({{"product", {"n"}}}));
    EXPECT_EQ(json["values"]["W"]["made"], Json::array({"S(1)"}));
    EXPECT_THAT(json["values"]["W"]["boxes"], IsEmpty());
    const Json& box = json["values"]["C"]["boxes"][0];
    EXPECT_EQ(box["from"], Json::array({"S(1)"}));
    EXPECT_EQ(box["to"], Json::array({"B"}));
    EXPECT_NEAR(box["seconds"], 3 * (1e-7 + 1e-10 * 128), 1e-15);
    EXPECT_EQ(box["collective"], "all-gather");
}

TEST_F(Distribute, InfeasibleIsAnAnswer) {
    const ProcessResult result = distribute(with_memory("1000"), {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["status"], "infeasible");
    EXPECT_EQ(json["memory"], 1792);
    EXPECT_FALSE(json.contains("cost"));
    EXPECT_FALSE(json.contains("values"));
    const ProcessResult text = distribute(with_memory("1000"));
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_THAT(text.output, HasSubstr("least memory    1792 bytes of 1000\n"));
    EXPECT_THAT(text.output,
                HasSubstr("  W                 1024 bytes  [S(1)]: more than the memory by itself\n"));
    EXPECT_THAT(text.output, HasSubstr("  C                  640 bytes  [S(1)], [B]\n"));
}

TEST_F(Distribute, ErrorsNameTheLine) {
    const ProcessResult result = distribute(with_memory("much"), {"--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, HasSubstr("tessera distribute: "));
    EXPECT_THAT(result.errors, HasSubstr("g.dist:7: "));
}

TEST_F(Distribute, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(distribute(kGraph, {"--nodes", "0"}).exit_code, 2);
    EXPECT_EQ(distribute(kGraph, {"--time", "1"}).exit_code, 2);
    const ProcessResult no_file = run_process({.program = TESSERA_PROGRAM, .arguments = {"distribute"}});
    EXPECT_EQ(no_file.exit_code, 2);
    EXPECT_THAT(no_file.output, IsEmpty());
    const ProcessResult help =
        run_process({.program = TESSERA_PROGRAM, .arguments = {"distribute", "--help"}});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.output, HasSubstr("tessera distribute layers.dist --json"));
}

TEST_F(Distribute, TakesModelsWithTheirDevices) {
    const std::string root = TESSERA_SOURCE_DIR;
    const auto model = [&](std::vector<std::string> more) {
        std::vector<std::string> all = {"distribute", root + "/models/tessera-tiny"};
        all.insert(all.end(), more.begin(), more.end());
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(all)});
    };
    const std::string nodes = root + "/machines/clusters/nodes.toml";
    const ProcessResult found = model({"--machine", nodes, "--compare"});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("devices         4 nodes x 8 GPUs: 4 node x 8 gpu\n"));
    EXPECT_THAT(found.output, HasSubstr("by hand         "));
    EXPECT_THAT(found.output, HasSubstr("optimal\n"));
    const Json json = Json::parse(model({"--machine", nodes, "--json"}).output);
    EXPECT_EQ(json.at("status"), "optimal");
    EXPECT_EQ(json.at("levels").size(), 2U);
    EXPECT_EQ(Json::parse(model({"--machine", nodes, "--memory", "1000", "--json"}).output).at("status"),
              "infeasible");
    EXPECT_EQ(model({}).exit_code, 2);
    EXPECT_EQ(distribute(kGraph, {"--machine", nodes}).exit_code, 2);
    EXPECT_EQ(distribute(kGraph, {"--memory", "1000"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
