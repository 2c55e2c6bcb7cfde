#include "chip/partition/edited_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/partition/drawn_call.h"
#include "chip/partition/execute_step.h"
#include "chip/partition/executed_programs.h"
#include "chip/partition/small_chips.h"
#include "chip/partition/stated_plan.h"
#include "support/error.h"

// Device programs that are written, edited, read and executed.
namespace tessera::partition {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kChain = R"(graph "chain"
input x: f32[6, 16]
constant w: f32[12, 16] from "w"
value y: f32[6, 12]
value z: f32[6, 12]

block all
  node y(x, w) -> y
    op product(m: 6, n: 12, k*: 16)
    in X f32[m, k]
    in W f32[n, k]
    out Y f32[m, n] = sum(X * W)
  node z(y) -> z
    op twice(m: 6, n: 12)
    in X f32[m, n]
    out Y f32[m, n] = 2 * X

output z
)";

/// "p0 e0": preload 0, execute 0.
Json entries(const std::string& text) {
    Json all = Json::array();
    for (size_t at = 0; at < text.size(); at += 3)
        all.push_back(Json::array({text[at] == 'p' ? "preload" : "execute", text[at + 1] - '0'}));
    return all;
}

class EditedProgramTest : public ::testing::Test {
protected:
    Graph graph_ = parse_graph(kChain, "chain.ir");
    GraphCall call_ = drawn_call(graph_, {}, 7, "chain.ir");
    chip::ChipDescription chip_ = small_chip();

    Json planned() const {
        return Json::parse(
            step_program_json(plan_step(graph_, call_, chip_, "chain.ir", {.work = 1000}), chip_.chip));
    }
    /// The fault of the program, or of its numbers; empty if there is none.
    std::string problem_of(const Json& program) const {
        try {
            const PlannedStep step = edited_step(graph_, call_, chip_, "chain.ir", program.dump(), "p.json");
            const ExecutedStep executed = execute_step(step, chip_, call_);
            return difference(step.graph, call_, executed.executed.result);
        } catch (const Error& error) {
            return error.what();
        }
    }
    /// All follows from the plan again.
    static void leave_work_out(Json& op) { op = {{"name", op["name"]}, {"plan", op["plan"]}}; }
};

TEST_F(EditedProgramTest, IsTheOneThatWasWritten) {
    const PlannedStep step = plan_step(graph_, call_, chip_, "chain.ir", {.work = 1000});
    const std::string text = step_program_json(step, chip_.chip);
    const PlannedStep read = edited_step(graph_, call_, chip_, "chain.ir", text, "p.json");
    EXPECT_EQ(step_program_json(read, chip_.chip), text);
    EXPECT_EQ(read.plan.total, step.plan.total);
    EXPECT_EQ(execute_step(read, chip_, call_).cycles, execute_step(step, chip_, call_).cycles);
    EXPECT_EQ(problem_of(Json::parse(text)), "");
}

TEST_F(EditedProgramTest, MayHaveAnotherOrderAndOtherPlans) {
    Json program = planned();
    program["program"] = entries("p1 p0 e0 e1");
    EXPECT_EQ(problem_of(program), "");
    program["program"] = entries("p0 e0 p1 e1");
    EXPECT_EQ(problem_of(program), "");

    // All plans of the product on this chip: what the other operator gets follows.
    const Workload workload = graph_workload(graph_, {}, "chain.ir");
    const ChipTables tables = chip_tables(workload, chip_, "small.toml");
    ASSERT_GE(tables.operators[0].rows.size(), 3U);
    for (Json& op : program["operators"]) leave_work_out(op);
    for (const PlannedRow& row : tables.operators[0].rows) {
        program["operators"][0]["plan"] = stated_plan_json(tables.operators[0], row);
        EXPECT_EQ(problem_of(program), "") << program.dump();
    }
    program["operators"][0]["plan"] = {{"cut", {{"k", 2}, {"n", 3}}}};
    EXPECT_EQ(problem_of(program), "");
    program["operators"][0]["plan"] = {{"cut", {{"m", 2}, {"n", 2}}},
                                       {"steps", 2},
                                       {"along", "k"},
                                       {"rotate", {"X", "W"}},
                                       {"preload_parts", 2}};
    EXPECT_EQ(problem_of(program), "");
}

TEST_F(EditedProgramTest, SaysWhatIsMissingAndWhen) {
    Json program = planned();
    for (Json& op : program["operators"]) leave_work_out(op);
    program["operators"][0]["plan"] = {{"cut", {{"k", 2}, {"n", 3}}}};
    program = Json::parse(step_program_json(
        edited_step(graph_, call_, chip_, "chain.ir", program.dump(), "p.json"), chip_.chip));
    for (size_t i = 0; i < 2; ++i)
        for (const char* list : {"preload", "distribute", "reduce", "compute"})
            for (size_t t = 0; t < program["operators"][i].value(list, Json::array()).size(); ++t) {
                Json edited = program;
                edited["operators"][i][list].erase(t);
                const std::string problem = problem_of(edited);
                EXPECT_THAT(problem, AllOf(HasSubstr("operator "), HasSubstr("at cycle "))) << list << t;
            }
}

TEST_F(EditedProgramTest, RefusesTransfersThatThePlanDoesNotHave) {
    Json program = planned();
    ASSERT_FALSE(program["operators"][0]["preload"].empty());
    Json edited = program;
    edited["operators"][0]["preload"][0]["bytes"] = 1;
    EXPECT_THAT(problem_of(edited), HasSubstr("operators[0].preload[0]`: moves 1 bytes to ["));
    edited = program;
    edited["operators"][0]["compute"][0]["step"] = 77;
    EXPECT_THAT(problem_of(edited), HasSubstr("in step 77, which the plan of y does not have"));
}

TEST_F(EditedProgramTest, RefusesWhatIsNoProgramOfTheGraph) {
    const Json program = planned();
    const auto problem_with = [&](const Json& plan) {
        Json edited = program;
        edited["operators"][0]["plan"] = plan;
        leave_work_out(edited["operators"][0]);
        return problem_of(edited);
    };
    EXPECT_THAT(problem_with({{"cut", {{"q", 2}}}}), HasSubstr("names q, which is no iterator"));
    EXPECT_THAT(problem_with({{"cut", {{"n", 7}}}}),
                HasSubstr("is 7, and 12 iterations in parts of 2 are 6"));
    EXPECT_THAT(problem_with({{"cut", {{"n", 13}}}}), HasSubstr("parts, 1 to 12"));
    EXPECT_THAT(problem_with({{"cut", {{"n", 12}}}}), HasSubstr("into 12 tiles, and the chip has 6 cores"));
    EXPECT_THAT(problem_with({{"steps", 2}, {"along", "k"}, {"rotate", {"X"}}}),
                HasSubstr("in 2 steps: no rotation of it along k"));
    EXPECT_THAT(problem_with({{"steps", 2}, {"along", "k"}, {"rotate", {"Y"}}}),
                HasSubstr("is Y, expected an operand"));
    EXPECT_THAT(problem_with({{"steps", 2}, {"along", "k"}, {"rotate", Json::array()}}),
                HasSubstr("expected operands"));
    EXPECT_THAT(problem_with({{"cut", {{"m", 6}}}, {"preload_parts", 4}}),
                HasSubstr("preloads y in 4 parts, expected one of [1, 2, 3, 6]"));

    Json edited = program;
    edited["operators"][0].erase("plan");
    EXPECT_THAT(problem_of(edited), HasSubstr("has no `plan`"));
    edited = program;
    edited["operators"][0].erase("execute_bytes");
    EXPECT_THAT(problem_of(edited), HasSubstr("and no `execute_bytes`"));
    edited = program;
    edited["operators"][0]["name"] = "z";
    EXPECT_THAT(problem_of(edited), HasSubstr("is \"z\", expected \"y\""));
    edited = program;
    edited["program"] = entries("p0 e0 e1 p1");
    EXPECT_THAT(problem_of(edited), AllOf(HasSubstr("execute 1 (z) waits"), HasSubstr("deadlock at cycle")));
    edited = program;
    for (Json& bytes : edited["operators"][1]["execute_bytes"]) bytes = 200'000;
    EXPECT_THAT(problem_of(edited), AllOf(HasSubstr("operator 1 (z) overflows core 0 at cycle")));
    edited = program;
    edited["operators"].erase(1);
    edited["program"] = entries("p0 e0");
    EXPECT_THAT(problem_of(edited), HasSubstr("has 1 entries, expected one for each of the 2 operators"));
}

TEST_F(EditedProgramTest, RefusesPlansWithoutAPlaceOnAGrid) {
    chip_ = small_chip({.topology = "mesh", .shape = "[2, 3]"});
    Json program = planned();
    leave_work_out(program["operators"][0]);
    program["operators"][0]["plan"] = {{"cut", {{"m", 3}, {"n", 2}}}};
    leave_work_out(program["operators"][1]);
    EXPECT_EQ(problem_of(program), "");
    program["operators"][0]["plan"] = {{"cut", {{"m", 5}}}};
    EXPECT_THAT(problem_of(program), HasSubstr("is 5"));
    program["operators"][0]["plan"] = {{"cut", {{"n", 4}}}};
    EXPECT_EQ(problem_of(program), "");
}

}  // namespace
}  // namespace tessera::partition
