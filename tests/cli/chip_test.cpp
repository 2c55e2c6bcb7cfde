#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
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

/// Operator b is preloaded while a is executed.
constexpr const char* kTables = R"({"cores": 1, "sram_bytes": 100, "clock_hz": 1000000000,
    "hbm_bytes_per_second": 1000000000, "link_bytes_per_second": 2000000000, "share": "fair",
    "operators": [
        {"name": "a", "min_preload_bytes": 10, "rows": [
            {"preload_bytes": 10, "exec_bytes": 90, "compute": 20, "shift": 0, "distribute": 0},
            {"preload_bytes": 10, "exec_bytes": 50, "compute": 25, "shift": 0, "distribute": 0}]},
        {"name": "b", "min_preload_bytes": 20, "rows": [
            {"preload_bytes": 20, "exec_bytes": 60, "compute": 7, "shift": 0, "distribute": 0}]}],
    "sequence": [0, 1]})";

class ChipVerb : public ::testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return (folder_.path() / name).string();
    }
    static ProcessResult chip(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "chip");
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }
    ProcessResult schedule(const std::string& text, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"schedule", write("p.json", text)});
        return chip(std::move(more));
    }

private:
    TemporaryFolder folder_;
};

TEST_F(ChipVerb, SchedulesTables) {
    const ProcessResult result = schedule(kTables, {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["status"], "optimal");
    // 10 of preload a, then 25 of a's small row beside 20 of preload b, then 7.
    EXPECT_EQ(json["total"], 42);
    EXPECT_EQ(json["bound"], 42);
    EXPECT_EQ(json["rows"], Json({1, 0}));
    EXPECT_EQ(json["order"], Json({0, 1}));
    EXPECT_EQ(json["slots"], Json({0, 0}));
    const ProcessResult text = schedule(kTables);
    EXPECT_THAT(
        text.output,
        HasSubstr("status      optimal\ntotal       42.0 cycles, 4.2e-05 ms\nbound       42.0 cycles\n"));
    EXPECT_THAT(text.output, HasSubstr("SRAM        70 of 100 bytes at the peak\n"));
    EXPECT_THAT(text.output, HasSubstr("operator 0 (a)\n"));
}

TEST_F(ChipVerb, SchedulesByDesigns) {
    const Json basic = Json::parse(schedule(kTables, {"--design", "basic", "--json"}).output);
    // The fast row of a leaves no room for the preload of b.
    EXPECT_EQ(basic["total"], 10 + 20 + 20 + 7);
    EXPECT_EQ(basic["status"], "feasible");
    EXPECT_EQ(basic["slots"], Json({0, 1}));
    const Json elk = Json::parse(schedule(kTables, {"--design", "elk-full", "--compare", "--json"}).output);
    EXPECT_EQ(elk["total"], 42);
    EXPECT_EQ(elk["status"], "optimal");
    EXPECT_EQ(elk["designs"]["basic"], basic["total"]);
    EXPECT_EQ(elk["designs"]["search"], 42);
    EXPECT_EQ(elk["terms"]["basic"]["wait"], 30);
    EXPECT_EQ(elk["terms"]["elk-full"]["compute"], 32);
    EXPECT_EQ(elk["terms"]["elk-full"]["orders"], 1);
    EXPECT_FALSE(elk["terms"].contains("ideal"));
    EXPECT_THAT(schedule(kTables, {"--compare"}).output, HasSubstr("contention   access     wait   orders"));
    for (const char* wrong : {"ideal", "elk"}) {
        const ProcessResult refused = schedule(kTables, {"--design", wrong});
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_THAT(refused.errors, HasSubstr("expected basic, static, elk-dyn, elk-full or search"));
    }
}

TEST_F(ChipVerb, FitsCosts) {
    std::string table = "link,operator,bytes,iterations,operations,special,cycles\n";
    for (int i = 1; i <= 40; ++i) {
        table += fmt::format("core,,{},,,,{}\n", 100 * i, 60 + 25 * i);
        table += fmt::format(",elementwise,,{},{},{},{}\n", 8 * i, 8 * i * (1 + i % 3), 8 * (i % 5),
                             30 + 2 * i * (1 + i % 3) + 16 * (i % 5));
    }
    const std::string file = write("t.csv", table), out = write("fitted.toml", "");
    const std::string ipu = TESSERA_SOURCE_DIR "/machines/chips/ipu-hbm.toml";
    const ProcessResult text = chip({"fit", file, "--chip", ipu, "--out", out});
    EXPECT_EQ(text.exit_code, 0) << text.errors;
    EXPECT_THAT(text.output,
                HasSubstr("elementwise            40    0.00%    0.00%    0.00%  1 linear function\n"));
    EXPECT_THAT(text.output, HasSubstr("60 cycles and 4 bytes a cycle\n"));
    EXPECT_THAT(chip({"check", out}).output, HasSubstr("all-to-all, 5.3 GB/s a link"));
    const Json json = Json::parse(chip({"fit", file, "--json"}).output);
    EXPECT_NEAR(json["links"][0]["latency_cycles"], 60, 1e-3);
    EXPECT_NEAR(json["operators"][0]["nodes"][0]["slopes"][1], 0.25, 1e-4);
    const ProcessResult alone = chip({"fit", file, "--out", out});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_THAT(alone.errors, HasSubstr("`--chip`: is missing"));
    const ProcessResult small = chip({"fit", write("s.csv", "link,bytes,cycles\ncore,1,2\n")});
    EXPECT_EQ(small.exit_code, 1);
    EXPECT_THAT(small.errors, HasSubstr("s.csv: `link core`: has 1 measurements, too few"));
    const ProcessResult pod = chip({"fit",
                                    write("p.csv",
                                          "link,bytes,cycles\nchip,100,20\nchip,200,30\n"
                                          "chip,300,40\nchip,400,50\nchip,500,60\nchip,600,70\n"),
                                    "--chip", ipu, "--out", out});
    EXPECT_EQ(pod.exit_code, 1);
    EXPECT_THAT(pod.errors,
                HasSubstr("`level.chip`: has no `links`, and the table has measurements of link chip"));
}

TEST_F(ChipVerb, NamesTheOperatorThatDoesNotFit) {
    std::string text = kTables;
    text.replace(text.find("\"exec_bytes\": 60"), 16, "\"exec_bytes\": 101");
    const ProcessResult result = schedule(text, {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(Json::parse(result.output), Json({{"status", "infeasible"}, {"operator", 1}, {"name", "b"}}));
    EXPECT_EQ(schedule(text).output,
              "status      infeasible\noperator    1 (b): no row fits into 100 bytes\n");
}

TEST_F(ChipVerb, ScheduleErrorsNameThePlace) {
    std::string text = kTables;
    text.replace(text.find("\"compute\": 7"), 12, "\"compute\": 0");
    const ProcessResult result = schedule(text, {"--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors,
                HasSubstr("p.json: `operators[1].rows[0].compute`: is 0, expected cycles above 0"));
}

/// One core, HBM at a byte a cycle, links that take no time.
constexpr const char* kChip = R"({"name": "one", "cores": 1, "sram_bytes": 100, "clock_hz": 1000,
    "topology": {"kind": "all-to-all", "link_bytes_per_cycle": 1, "latency": 0},
    "hbm": [{"bytes_per_cycle": 1, "port_bytes_per_cycle": 1, "latency": 0}], "compute": {"unit": 1}})";
constexpr const char* kDeviceProgram = R"({"name": "p", "operators": [
    {"name": "a", "preload": [{"to": [0], "bytes": 10}], "compute": [{"step": 0, "core": 0, "unit": "unit", "flops": 5}],
     "preload_bytes": [60], "execute_bytes": [40]},
    {"name": "b", "preload": [{"to": [0], "bytes": 20}], "compute": [{"step": 0, "core": 0, "unit": "unit", "flops": 7}],
     "preload_bytes": [60], "execute_bytes": [60]}],
    "program": [["preload", 0], ["preload", 1], ["execute", 0], ["execute", 1]]})";

TEST_F(ChipVerb, SimulatesPrograms) {
    const std::string chip_file = write("c.json", kChip), program = write("d.json", kDeviceProgram);
    const std::string trace = write("t.jsonl", ""), chrome = write("t.json", "");
    const ProcessResult result =
        chip({"simulate", chip_file, program, "--json", "--trace", trace, "--chrome", chrome});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, IsEmpty());
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["total"], 37);
    EXPECT_EQ(json["overlapped"], 5);
    EXPECT_EQ(json["sram_peak"], Json({100}));
    EXPECT_EQ(json["operators"][1]["execute"], Json({30, 37}));
    std::ifstream lines(trace);
    std::string first, last;
    std::getline(lines, first);
    for (std::string line; std::getline(lines, line);) last = line;
    EXPECT_EQ(Json::parse(first)["format"], "tessera trace 1");
    EXPECT_EQ(Json::parse(first)["chip"], Json::parse(kChip));
    EXPECT_EQ(Json::parse(last)["hbm_read_bytes"], 30);
    std::ifstream events(chrome);
    EXPECT_GT(Json::parse(events)["traceEvents"].size(), 6u);
    const ProcessResult text = chip({"simulate", chip_file, program});
    EXPECT_THAT(text.output, HasSubstr("total       37.0 cycles, 37 ms\n"));
    EXPECT_THAT(text.output, HasSubstr("        30.0       37.0  1 b\n"));
}

TEST_F(ChipVerb, RefusesProgramsThatOverflowOrDeadlock) {
    const std::string chip_file = write("c.json", kChip);
    std::string text = kDeviceProgram;
    text.replace(text.find("\"execute_bytes\": [40]"), 21, "\"execute_bytes\": [41]");
    ProcessResult result = chip({"simulate", chip_file, write("d.json", text)});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, HasSubstr("the preload of operator 1 (b) overflows core 0 at cycle 10.000"));
    text = kDeviceProgram;
    text.replace(text.find("[\"preload\", 1], "), 16, "");
    text.replace(text.find("[\"execute\", 1]"), 14, "[\"execute\", 1], [\"preload\", 1]");
    result = chip({"simulate", chip_file, write("d.json", text)});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("d.json: `program[2]`: execute 1 (b) waits for preload 1"));
    EXPECT_THAT(chip({"simulate", write("c.json", "{}"), write("d.json", text)}).errors,
                HasSubstr("c.json: `cores`: is missing"));
}

TEST_F(ChipVerb, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(schedule(kTables, {"--work", "-1"}).exit_code, 2);
    EXPECT_EQ(schedule(kTables, {"--seconds", "0"}).exit_code, 2);
    EXPECT_EQ(schedule(kTables, {"--work", "1", "--seconds", "1"}).exit_code, 2);
    EXPECT_EQ(chip({"schedule"}).exit_code, 2);
    EXPECT_EQ(chip({"simulate", "c.json"}).exit_code, 2);
    EXPECT_EQ(chip({}).exit_code, 2);
    EXPECT_EQ(chip({"plans"}).exit_code, 2);
    EXPECT_EQ(chip({"schedule", "/nowhere/p.json"}).exit_code, 1);
}

TEST_F(ChipVerb, HelpHasExamples) {
    EXPECT_THAT(chip({"--help"}).output, HasSubstr("tessera chip schedule docs/chip_layers.problem.json"));
    EXPECT_THAT(chip({"schedule", "--help"}).output,
                HasSubstr("tessera chip schedule llama.problem.json --json"));
}

}  // namespace
}  // namespace tessera
