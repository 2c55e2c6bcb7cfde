#include "chip/read_schedule_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWhole =
    R"({"cores": 8, "sram_bytes": 100, "clock_hz": 1000, "hbm_bytes_per_second": 4000,
  "link_bytes_per_second": 500, "share": "fair", "name": "left alone",
  "operators": [{"name": "a", "min_preload_bytes": 10, "rows": [
      {"preload_bytes": 10, "exec_bytes": 20, "compute": 7.5, "shift": 1, "distribute": 0.25}]},
    {"name": "b", "min_preload_bytes": 0, "rows": [
      {"preload_bytes": 0, "exec_bytes": 0, "compute": 1, "shift": 0, "distribute": 0}]}],
  "sequence": [1, {"repeat": 3, "of": [0, 1]}, 0]})";

std::string problem_error(std::string from, std::string to) {
    std::string text = kWhole;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
        (void)read_schedule_problem(text, "p.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(ReadScheduleProblem, ReadsEveryPart) {
    const ScheduleProblem problem = read_schedule_problem(kWhole, "p.json");
    EXPECT_EQ(problem.sram_bytes, 100);
    EXPECT_EQ(problem.clock_hz, 1000);
    EXPECT_EQ(problem.share, Share::kFair);
    EXPECT_EQ(problem.sequence, (std::vector<size_t>{1, 0, 1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(problem.repeats, (std::vector<Repeat>{{1, 2, 3}}));
    const Row expected{.preload_bytes = 10,
                       .exec_bytes = 20,
                       .compute = 7.5,
                       .shift = 1,
                       .distribute = 0.25,
                       .hbm = 10 * 8 / 4.0,
                       .link_in = 10 / 0.5};
    ASSERT_EQ(problem.operators.size(), 2u);
    EXPECT_EQ(problem.operators[0], (Operator{"a", {expected}}));
    EXPECT_EQ(expected.preload(), 20);
    EXPECT_EQ(expected.execute(), 8.75);
}

TEST(ReadScheduleProblem, TheLatencyOfTheHbmIsOfPreloadsThatItDelivers) {
    std::string text = kWhole;
    text.replace(text.find("\"share\""), 7, "\"hbm_latency_cycles\": 6.5, \"share\"");
    const ScheduleProblem problem = read_schedule_problem(text, "p.json");
    EXPECT_EQ(problem.operators[0].rows[0].preload(), 20 + 6.5);
    EXPECT_EQ(problem.operators[1].rows[0].preload(), 0);
    EXPECT_THAT(problem_error("\"share\"", "\"hbm_latency_cycles\": -1, \"share\""),
                HasSubstr("p.json: `hbm_latency_cycles`: is -1, expected"));
}

TEST(ReadScheduleProblem, ExpandsNestedRepeats) {
    const auto sequence = [](const std::string& of) {
        std::string text = kWhole;
        const std::string old = R"([1, {"repeat": 3, "of": [0, 1]}, 0])";
        text.replace(text.find(old), old.size(), of);
        return read_schedule_problem(text, "p.json");
    };
    const ScheduleProblem twice = sequence(R"([{"repeat": 2, "of": [{"repeat": 3, "of": [0]}, 1]}])");
    EXPECT_EQ(twice.sequence, (std::vector<size_t>{0, 0, 0, 1, 0, 0, 0, 1}));
    EXPECT_EQ(twice.repeats, (std::vector<Repeat>{{0, 1, 3}, {4, 1, 3}}));
    const ScheduleProblem outer = sequence(R"([{"repeat": 3, "of": [{"repeat": 2, "of": [0]}, 1]}])");
    EXPECT_EQ(outer.sequence.size(), 9u);
    EXPECT_EQ(outer.repeats, (std::vector<Repeat>{{0, 3, 3}}));
    EXPECT_EQ(sequence(R"([{"repeat": 1, "of": [{"repeat": 2, "of": [1]}]}])").repeats,
              (std::vector<Repeat>{{0, 1, 2}}));
    EXPECT_TRUE(sequence(R"([0, {"repeat": 2147483647, "of": []}])").repeats.empty());
}

TEST(ReadScheduleProblem, NamesThePlaceAndTheValue) {
    const auto expect = [](const std::string& from, const std::string& to, const std::string& error) {
        EXPECT_THAT(problem_error(from, to), HasSubstr(error));
    };
    expect("\"cores\": 8", "\"cores\": 0", "`cores`: is 0, expected an integer from 1");
    expect("\"cores\": 8", "\"cores\": 8.0", "`cores`: is 8.0");
    expect("\"cores\": 8, ", "", "`cores`: is missing");
    expect("\"sram_bytes\": 100", "\"sram_bytes\": true", "`sram_bytes`: is true");
    expect("\"sram_bytes\": 100", "\"sram_bytes\": 35184372088833", "`sram_bytes`: is 35184372088833");
    expect("\"fair\"", "\"fare\"", "`share`: is \"fare\", expected \"fair\", \"execute\" or \"preload\"");
    expect(
        "\"preload_bytes\": 10", "\"preload_bytes\": 9",
        "`operators[0].rows[0].preload_bytes`: is 9, expected at least the operator's min_preload_bytes, 10");
    expect("\"exec_bytes\": 20", "\"exec_bytes\": -1", "`operators[0].rows[0].exec_bytes`: is -1");
    expect("\"compute\": 7.5", "\"compute\": 0",
           "`operators[0].rows[0].compute`: is 0, expected cycles above 0");
    expect("\"shift\": 1", "\"shift\": -1", "`operators[0].rows[0].shift`: is -1");
    expect("\"shift\": 1", "\"shift\": 1e16", "`operators[0].rows[0].shift`: is 1");
    expect("\"distribute\": 0.25", "\"distribute\": \"0\"", "`operators[0].rows[0].distribute`: is \"0\"");
    expect("[1, {", "[2, {", "`sequence[0]`: is 2");
    expect("[1, {", "[\"1\", {", "`sequence[0]`: is \"1\", expected an index");
    expect("\"repeat\": 3", "\"repeat\": 0", "`sequence[1].repeat`: is 0");
    expect("\"repeat\": 3", "\"repeat\": 60000", "`sequence[1]`: makes more than 100000 positions");
    expect("\"repeat\": 3", "\"repeats\": 3", "`sequence[1]`: has the unknown key `repeats`");
    expect(R"([1, {"repeat": 3, "of": [0, 1]}, 0])", "[]", "`sequence`: is empty");
    expect(R"("of": [0, 1])", R"("of": 1)", "`sequence[1].of`: is 1");
    EXPECT_THAT(problem_error(kWhole, "[]"), HasSubstr("expected an object"));
    EXPECT_THAT(problem_error(kWhole, "{"), HasSubstr("is not valid JSON"));
}

}  // namespace
}  // namespace tessera::chip
