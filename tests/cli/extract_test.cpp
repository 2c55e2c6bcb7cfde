#include <filesystem>
#include <fstream>
#include <iterator>
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

/// Both operands of f prefer their leaf alone; together they share `s`.
constexpr const char* kShared = R"({"nodes": {
    "f": {"op": "f", "children": ["a1", "b1"], "eclass": "F", "cost": 0.5},
    "a1": {"op": "a", "children": ["s"], "eclass": "A", "cost": 1},
    "a2": {"op": "leaf", "children": [], "eclass": "A", "cost": 4},
    "b1": {"op": "b", "children": ["s"], "eclass": "B", "cost": 1},
    "b2": {"op": "leaf", "children": [], "eclass": "B", "cost": 4},
    "s": {"op": "s", "children": [], "eclass": "S", "cost": 4}}, "root_eclasses": ["F"]})";

class Extracting : public ::testing::Test {
protected:
    ProcessResult extract(const std::string& text, std::vector<std::string> more = {}) const {
        std::ofstream(folder_.path() / "e.json") << text;
        std::vector<std::string> arguments = {"extract", (folder_.path() / "e.json").string()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }
    std::string out() const { return (folder_.path() / "choices.json").string(); }
    std::string read_out() const {
        std::ifstream in(out());
        return {std::istreambuf_iterator<char>(in), {}};
    }

private:
    TemporaryFolder folder_;
};

TEST_F(Extracting, PrintsCostBoundAndStatus) {
    const ProcessResult result = extract(kShared);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("status      optimal\ncost        6.5\nbound       6.5\n"));
    EXPECT_THAT(result.errors, IsEmpty());
}

TEST_F(Extracting, WritesTheChoiceAndTheSameOneTwice) {
    ASSERT_EQ(extract(kShared, {"--out", out()}).exit_code, 0);
    const std::string first = read_out();
    const Json json = Json::parse(first);
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["cost"], 6.5);
    EXPECT_EQ(json["bound"], 6.5);
    EXPECT_EQ(json["choices"], Json({{"F", "f"}, {"A", "a1"}, {"B", "b1"}, {"S", "s"}}));
    ASSERT_EQ(extract(kShared, {"--out", out()}).exit_code, 0);
    EXPECT_EQ(read_out(), first);
}

TEST_F(Extracting, JsonHasEveryNumber) {
    const ProcessResult result = extract(kShared, {"--json", "--time", "60"});
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["cost"], 6.5);
    EXPECT_EQ(json["bound"], 6.5);
    EXPECT_EQ(json["gap"], 0);
    EXPECT_EQ(json["nodes"], 6);
    EXPECT_EQ(json["classes"], 4);
    EXPECT_FALSE(json["stopped"]);
    EXPECT_TRUE(json.contains("conflicts"));
    EXPECT_TRUE(json.contains("seconds"));
}

TEST_F(Extracting, WithoutEffortIsGreedyAndHonest) {
    const Json json = Json::parse(extract(kShared, {"--json", "--search-effort", "0"}).output);
    EXPECT_EQ(json["conflicts"], 0);
    EXPECT_GE(json["cost"], 6.5);
    EXPECT_LE(json["bound"], 6.5);
}

TEST_F(Extracting, NoSolutionIsExitCodeOneAndWritesNothing) {
    const ProcessResult result =
        extract(R"({"nodes": {"a": {"op": "a", "children": ["a"], "eclass": "A"}}, "root_eclasses": ["A"]})",
                {"--out", out()});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, HasSubstr("status      infeasible"));
    EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(Extracting, NamesWhatIsWrong) {
    const ProcessResult broken = extract(R"({"nodes": {}, "root_eclasses": ["x"]})");
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_THAT(broken.errors, HasSubstr("tessera extract: "));
    EXPECT_THAT(broken.errors, HasSubstr("e.json: `x`: is a root and the class of no node"));
    EXPECT_EQ(extract(kShared, {"--search-effort", "-1"}).exit_code, 2);
    EXPECT_EQ(extract(kShared, {"--time", "0"}).exit_code, 2);
    EXPECT_EQ(extract(kShared, {"--out", out() + "/x/y"}).exit_code, 1);
}

}  // namespace
}  // namespace tessera
