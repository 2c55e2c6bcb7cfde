// `tessera chip check`, `plan`, `explain` and `explore` on the small chip and the checkpoint that ships.

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kSource = TESSERA_SOURCE_DIR;
const std::string kSmall = kSource + "/machines/chips/small-16.toml";
const std::string kTiny = kSource + "/models/tessera-tiny";

constexpr const char* kPlannedProduct = R"(graph "product"
symbol T in 1..64
input x: f16[T, 32] rounded
constant w: f16[48, 32] from "w"
value y: f16[T, 48] rounded
block body
  node y(x, w) -> y
    op matmul(t: T, n: 48, k*: 32)
    dim T in 1..64
    in X f16[t, k]
    in W f16[n, k]
    out Y f16[t, n] = sum(f32(X) * f32(W))
output y
)";

class ChipPlanVerb : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }
    std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(path(name)).rdbuf();
        return text.str();
    }
    static ProcessResult chip(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "chip");
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }
    /// `plan` of the shipped checkpoint.
    static ProcessResult plan(std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"plan", kTiny, "--chip", kSmall, "--batch", "4", "--sequence", "64",
                                   "--work", "100000"});
        return chip(std::move(more));
    }
    std::string space(const std::string& more) const {
        return "chip = \"" + kSmall + "\"\nmodels = [\"" + kTiny +
               "\"]\nbatch = [2, 4]\nsequence = [32]\nwork = 20000\n" + more;
    }

private:
    TemporaryFolder folder_;
};

TEST_F(ChipPlanVerb, ChecksChips) {
    const ProcessResult result = chip({"check", kSmall});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, AllOf(HasSubstr("cores       16, 1 GHz\n"),
                                     HasSubstr("network     mesh 4 x 4, 16 GB/s a link")));
    const Json json = Json::parse(chip({"check", kSmall, "--json"}).output);
    EXPECT_EQ(json["hbm_bytes_per_second"], 64e9);
    EXPECT_EQ(json["shape"], Json({4, 4}));
    const ProcessResult bad = chip({"check", write("c.toml", "name = \"x\"\ncores = 0\n")});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_THAT(bad.output, IsEmpty());
    EXPECT_THAT(bad.errors, HasSubstr("c.toml:2: `cores`: is 0, expected 1 to 65536"));
}

TEST_F(ChipPlanVerb, PlansTheCheckpointThatShips) {
    const ProcessResult result = plan({"--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["workload"], "tessera-tiny");
    EXPECT_EQ(json["positions"], json["rows"].size());
    EXPECT_LE(json["bound"], json["total"]);
    EXPECT_LE(json["sram_peak"], json["sram_bytes"]);
    EXPECT_NEAR(json["overlapped"].get<double>() + json["execute_only"].get<double>() +
                    json["preload_only"].get<double>(),
                json["total"].get<double>(), 1e-6 * json["total"].get<double>());
    // Each executes and waits, and nothing else takes time.
    double cycles = 0, bytes = 0;
    for (const Json& op : json["operators"]) {
        cycles += op["execute_cycles"].get<double>() + op["wait_cycles"].get<double>();
        bytes += op["hbm_bytes"].get<double>() * op["count"].get<double>();
        EXPECT_GE(op["plans"]["plans"], op["plans"]["slicings"]);
        EXPECT_LE(op["tiles"], 16);
    }
    EXPECT_NEAR(cycles, json["total"].get<double>(), 1e-6 * cycles);
    EXPECT_EQ(bytes, json["hbm_bytes"]);
    EXPECT_GT(json["joules"], 0);
    const ProcessResult text = plan();
    EXPECT_THAT(text.output,
                AllOf(StartsWith("workload    tessera-tiny, 125 operators\nchip        small-16\n"),
                      HasSubstr("layer_gate: ")));
    EXPECT_EQ(plan({"--json"}).output, result.output);
}

TEST_F(ChipPlanVerb, ComparesDesignsByOneEvaluator) {
    const Json json = Json::parse(plan({"--compare", "--json"}).output);
    const Json& designs = json["designs"];
    ASSERT_EQ(designs.size(), 6u);
    EXPECT_EQ(designs["search"], json["total"]);
    EXPECT_EQ(designs["ideal"], json["ideal"]);
    for (const auto& [name, total] : designs.items()) EXPECT_GE(total, designs["ideal"]) << name;
    for (const char* name : {"basic", "static", "elk-dyn", "elk-full"}) {
        EXPECT_GE(designs[name], json["bound"]);
        EXPECT_EQ(Json::parse(plan({"--design", name, "--json"}).output)["total"], designs[name]) << name;
    }
    EXPECT_THAT(plan({"--compare"}).output, HasSubstr("design            cycles"));
}

// Section 7 of paper 003: clusters of SMs are chips.
TEST_F(ChipPlanVerb, PlansAndSimulatesClustersOfSms) {
    const std::string h100 = TESSERA_SOURCE_DIR "/machines/chips/h100_clusters.toml";
    const ProcessResult result = chip({"plan", kTiny, "--chip", h100, "--batch", "16", "--sequence", "64",
                                       "--design", "elk-full", "--simulate", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_GT(json["total"], json["ideal"]);
    EXPECT_LT(json["total"], 1.15 * json["ideal"].get<double>());
    // Exchanges of so small a model are mostly latency, in which no link is used.
    EXPECT_NEAR(json["simulated"], json["total"], 0.05 * json["total"].get<double>());
    EXPECT_EQ(json["space"]["N"], 125);
}

TEST_F(ChipPlanVerb, WritesTablesThatScheduleReads) {
    std::string text;
    {
        std::ostringstream file;
        file << std::ifstream(kSmall).rdbuf();
        text = file.str();
    }
    const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    replace("topology = \"mesh\", shape = [4, 4]", "topology = \"all-to-all\"");
    replace("edge = \"left\"\n", "");
    replace("edge = \"right\"\n", "");
    const std::string chip_file = write("switch.toml", text);
    const ProcessResult planned = chip({"plan", kTiny, "--chip", chip_file, "--batch", "4", "--sequence",
                                        "64", "--work", "100000", "--tables", path("t.json"), "--json"});
    ASSERT_EQ(planned.exit_code, 0) << planned.errors;
    const ProcessResult scheduled = chip({"schedule", path("t.json"), "--work", "100000", "--json"});
    ASSERT_EQ(scheduled.exit_code, 0) << scheduled.errors;
    const double total = Json::parse(planned.output)["total"], again = Json::parse(scheduled.output)["total"];
    EXPECT_NEAR(total, again, 1e-3 * total);
    const ProcessResult grid = plan({"--tables", path("g.json")});
    EXPECT_EQ(grid.exit_code, 1);
    EXPECT_THAT(grid.errors, HasSubstr("`topology`: is a grid, and tables have one rate"));
}

TEST_F(ChipPlanVerb, WritesADeviceProgramThatTheSimulatorRuns) {
    const ProcessResult planned = plan({"--program", path("p.json"), "--json"});
    ASSERT_EQ(planned.exit_code, 0) << planned.errors;
    const ProcessResult simulated = chip({"simulate", kSmall, path("p.json"), "--json"});
    ASSERT_EQ(simulated.exit_code, 0) << simulated.errors;
    const Json json = Json::parse(simulated.output);
    const double total = Json::parse(planned.output)["total"], measured = json["total"];
    EXPECT_NEAR(Json::parse(plan({"--simulate", "--json"}).output)["simulated"].get<double>(), measured,
                1e-6 * measured);
    EXPECT_NEAR(total, measured, 0.1 * measured);
    // Parts are rounded up to whole bytes.
    EXPECT_NEAR(json["hbm_read_bytes"].get<double>(), Json::parse(planned.output)["hbm_bytes"].get<double>(),
                1e4);
}

TEST_F(ChipPlanVerb, PlansForThroughputAndEnergy) {
    const Json one = Json::parse(plan({"--json"}).output);
    EXPECT_EQ(one["objective"], "latency");
    const ProcessResult stream = plan({"--objective", "throughput", "--steps", "3", "--json"});
    ASSERT_EQ(stream.exit_code, 0) << stream.errors;
    const Json steps = Json::parse(stream.output);
    EXPECT_EQ(steps["positions"], 3 * one["positions"].get<size_t>());
    EXPECT_DOUBLE_EQ(steps["cycles_per_step"], steps["total"].get<double>() / 3);
    EXPECT_LT(steps["cycles_per_step"], one["total"]);
    EXPECT_GE(steps["cycles_per_step"].get<double>(), steps["bound"].get<double>() / 3);
    // No preload comes before the same operator of the step before.
    const auto length = one["positions"].get<size_t>();
    for (size_t i = length; i < 3 * length; ++i)
        EXPECT_TRUE(steps["slots"][i] == 0 || steps["slots"][i].get<size_t>() + length > i) << i;
    const ProcessResult frugal = plan({"--objective", "energy", "--json"});
    ASSERT_EQ(frugal.exit_code, 0) << frugal.errors;
    const Json least = Json::parse(frugal.output);
    EXPECT_LT(least["joules"], one["joules"]);
    EXPECT_NEAR(least["joules"].get<double>(), least["least_joules"].get<double>(),
                1e-9 * least["joules"].get<double>());
    EXPECT_GT(least["total"], one["total"]);
    EXPECT_THAT(plan({"--objective", "energy"}).output, HasSubstr(" J, at least "));
    EXPECT_THAT(plan({"--objective", "throughput"}).output, HasSubstr("cycles for each of 4 steps"));
}

TEST_F(ChipPlanVerb, RefusesObjectivesThatItDoesNotHave) {
    const ProcessResult unknown = plan({"--objective", "beauty"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.errors,
                HasSubstr("`--objective`: is beauty, expected latency, throughput or energy"));
    const ProcessResult steps = plan({"--steps", "2"});
    EXPECT_EQ(steps.exit_code, 2);
    EXPECT_THAT(steps.errors, HasSubstr("`--steps`: is for --objective throughput, not for latency"));
    EXPECT_THAT(plan({"--objective", "throughput", "--steps", "900"}).errors,
                HasSubstr("`--steps`: is 900, expected at most 800: a step has 125 operators"));
    const ProcessResult none = chip({"plan", kTiny, "--chip", kSource + "/machines/chips/ipu-hbm.toml",
                                     "--batch", "4", "--sequence", "64", "--objective", "energy"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.errors, HasSubstr("`energy`: is not described, and plans shall take little of it"));
}

TEST_F(ChipPlanVerb, PlansGraphs) {
    const std::string graph = write("product.ir", kPlannedProduct);
    const ProcessResult result = chip({"plan", graph, "--chip", kSmall, "--set", "T=8", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["hbm_bytes"], 48 * 32 * 2);
    EXPECT_EQ(json["operators"][0]["unit"], "matrix");
    EXPECT_EQ(json["total"], json["bound"]);
    const ProcessResult missing = chip({"plan", graph, "--chip", kSmall});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.errors,
                HasSubstr("`T`: is a symbol without a value (add --set T=N with N from 1 to 64)"));
    EXPECT_THAT(chip({"plan", graph, "--chip", kSmall, "--set", "T=65"}).errors,
                HasSubstr("`T`: is 65, expected"));
    EXPECT_THAT(chip({"plan", graph, "--chip", kSmall, "--batch", "4"}).errors,
                HasSubstr("`--batch`: is for models"));
    EXPECT_THAT(chip({"plan", kTiny, "--chip", kSmall, "--set", "T=4"}).errors,
                HasSubstr("`--set`: is for graphs (.ir)"));
}

TEST_F(ChipPlanVerb, ExplainsAnOperator) {
    const std::vector<std::string> arguments = {
        "explain", kTiny, "logits", "--chip", kSmall, "--batch", "4", "--sequence", "64", "--work", "100000"};
    const ProcessResult text = chip(arguments);
    ASSERT_EQ(text.exit_code, 0) << text.errors;
    EXPECT_THAT(text.output,
                AllOf(HasSubstr("(logits) of 125"), HasSubstr("issued in front of"), HasSubstr("chosen")));
    std::vector<std::string> as_json = arguments;
    as_json.emplace_back("--json");
    const Json json = Json::parse(chip(as_json).output);
    const Json planned = Json::parse(plan({"--json"}).output);
    EXPECT_EQ(json["total"], planned["total"]);
    EXPECT_EQ(json["name"], "logits");
    EXPECT_EQ(json["slot"], planned["slots"][json["position"].get<size_t>()]);
    // Issued late, the preload of a large weight is waited for.
    ASSERT_FALSE(json["leads"].empty());
    EXPECT_GT(json["leads"][0]["total"], json["total"]);
    for (const Json& other : json["others"]) EXPECT_NE(other["row"], json["chosen"]["row"]);
    as_json[2] = "nothing";
    const ProcessResult unknown = chip(as_json);
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("`OPERATOR`: is nothing, and the workload has no such operator"));
}

TEST_F(ChipPlanVerb, ExploresAndGoesOn) {
    const std::string file =
        write("s.toml", space("designs = [\"search\", \"ideal\"]\n[sweep]\n"
                              "hbm.bytes_per_second = [16e9, 32e9]\nsram.bytes = [2000, 65536]\n"));
    const ProcessResult all = chip({"explore", file, "--workers", "2"});
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_EQ(std::count(all.output.begin(), all.output.end(), '\n'), 1 + 2 * 2 * 2 * 2);
    EXPECT_THAT(all.output,
                StartsWith("chip,model,phase,batch,sequence,hbm.bytes_per_second,sram.bytes,design,cycles,"));
    EXPECT_THAT(all.output, HasSubstr("has no plan that fits"));
    // The table of a run that was stopped: three points, and a line of the fourth.
    size_t at = 0;
    for (int line = 0; line < 1 + 3 * 2 + 1; ++line) at = all.output.find('\n', at) + 1;
    const size_t three = all.output.rfind('\n', at - 2) + 1;
    write("t.csv", all.output.substr(0, three));
    const ProcessResult rest = chip({"explore", file, "--out", path("t.csv")});
    EXPECT_EQ(rest.exit_code, 0);
    EXPECT_THAT(rest.errors, AllOf(HasSubstr("3 of 8 points are there already"), HasSubstr("8 of 8")));
    EXPECT_EQ(read("t.csv"), all.output);
    write("u.csv", all.output.substr(0, at));
    EXPECT_THAT(chip({"explore", file, "--out", path("u.csv")}).errors,
                HasSubstr("holds something else behind 3 points of this space"));
    write("v.csv", "a,b\n");
    EXPECT_THAT(chip({"explore", file, "--out", path("v.csv")}).errors, HasSubstr("holds another table"));
}

TEST_F(ChipPlanVerb, DrawsThePlotsOfASpace) {
    const std::string plots =
        "designs = [\"basic\", \"search\"]\n[[plots]]\nname = \"times\"\ntitle = \"Times\"\nkind = \"bars\"\n"
        "x = [\"batch\"]\ny = [\"ms\"]\nseries = [\"design\"]\n";
    const std::string file = write("s.toml", space(plots));
    const ProcessResult result = chip({"explore", file, "--out", path("t.csv"), "--plots", path("pictures")});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(read("pictures/times.svg"),
                AllOf(StartsWith("<svg "), HasSubstr(">basic</text>"), HasSubstr(">Times</text>")));
    const ProcessResult none = chip({"explore", write("n.toml", space("")), "--plots", path("pictures")});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.errors, HasSubstr("`plots`: is missing, so there is nothing to draw"));
    const ProcessResult unknown = chip(
        {"explore", write("u.toml", space(plots + "panels = [\"colour\"]\n")), "--plots", path("pictures")});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.errors, HasSubstr("`plots.times`: names colour, which is no column of the table"));
}

TEST_F(ChipPlanVerb, PlansPhasesOfADecoder) {
    const auto step = [&](const std::string& phase) {
        return chip({"plan", kTiny, "--chip", kSmall, "--batch", "1", "--sequence", "32", "--work", "10000",
                     "--phase", phase, "--json"});
    };
    const Json decode = Json::parse(step("decode").output);
    for (const char* phase : {"prefill", "training"}) {
        const ProcessResult result = step(phase);
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_GT(Json::parse(result.output)["total"], decode["total"]) << phase;
    }
    EXPECT_EQ(plan({"--phase", "decode", "--json"}).output, plan({"--json"}).output);
    const ProcessResult unknown = plan({"--phase", "backward"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("`--phase`: is backward, expected decode, prefill or training"));
}

TEST_F(ChipPlanVerb, SimulatesWhatItPlans) {
    const ProcessResult result = plan({"--simulate", "--accuracy", path("a.svg"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_NEAR(json["simulated"].get<double>(), json["total"].get<double>(),
                0.1 * json["total"].get<double>());
    EXPECT_LE(json["accuracy"]["executes"]["median_error"], 0.10);
    EXPECT_GE(json["accuracy"]["executes"]["correlation"], 0.95);
    EXPECT_THAT(read("a.svg"), HasSubstr("simulated cycles"));
    EXPECT_THAT(plan({"--simulate"}).output, HasSubstr("\nsimulated   "));
}

TEST_F(ChipPlanVerb, RefusesSpacesByName) {
    const auto error_of = [&](const std::string& text) {
        const ProcessResult result = chip({"explore", write("s.toml", text)});
        EXPECT_EQ(result.exit_code, 1) << text;
        return result.errors;
    };
    EXPECT_THAT(error_of(space("[sweep]\nhbm.speed = [1]\n")),
                HasSubstr("s.toml:7: `sweep.hbm.speed`: is no field of " + kSmall));
    EXPECT_THAT(error_of(space("[sweep]\nhbm = [1]\n")), HasSubstr("`sweep.hbm`: is no field of"));
    EXPECT_THAT(error_of(space("[sweep]\nsram.bytes = 4\n")),
                HasSubstr("s.toml:7: `sweep.sram.bytes`: must be a list of values that is not empty"));
    EXPECT_THAT(error_of(space("designs = [\"elk\"]\n")),
                HasSubstr("`designs`: holds elk, expected basic, static,"));
    EXPECT_THAT(error_of(space("colour = 1\n")), HasSubstr("s.toml:6: `colour`: is not a known field"));
    EXPECT_THAT(error_of("chip = \"nowhere.toml\"\nmodels = [\"x\"]\n"),
                HasSubstr("nowhere.toml: cannot read the chip file"));
    EXPECT_THAT(error_of("chip = \"c.toml\"\nmodels = []\n"),
                HasSubstr("`models`: is empty, expected config.json files"));
    // A value that the chip refuses is an answer for its points.
    const ProcessResult bad = chip({"explore", write("s.toml", space("[sweep]\nsram.bytes = [0]\n"))});
    EXPECT_EQ(bad.exit_code, 0);
    EXPECT_THAT(bad.output, HasSubstr("`capacity_bytes`: is 0, expected 1 to"));
}

TEST_F(ChipPlanVerb, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(chip({"plan", kTiny}).exit_code, 2);
    EXPECT_EQ(plan({"--design", "ideal"}).exit_code, 2);
    EXPECT_EQ(plan({"--batch", "0"}).exit_code, 2);
    EXPECT_EQ(chip({"plan", kTiny, "--chip", kSmall, "--sequence", "17"}).exit_code, 2);
    EXPECT_EQ(chip({"plan", kTiny, "--chip", "/nowhere.toml"}).exit_code, 1);
    EXPECT_EQ(chip({"explore", "a", "--workers", "0"}).exit_code, 2);
    EXPECT_THAT(chip({"plan", "--help"}).output, HasSubstr("tessera chip plan config.json --chip"));
}

TEST_F(ChipPlanVerb, SimulatesOnADescription) {
    const std::string program = write("p.json", R"({"name": "one", "operators": [{"name": "a",
        "preload": [{"to": [5], "bytes": 320}], "compute": [{"step": 0, "core": 5, "unit": "matrix", "flops": 640}],
        "preload_bytes": [0,0,0,0,0,320,0,0,0,0,0,0,0,0,0,0], "execute_bytes": [0,0,0,0,0,320,0,0,0,0,0,0,0,0,0,0]}],
        "program": [["preload", 0], ["execute", 0]]})");
    const ProcessResult result = chip({"simulate", kSmall, program, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["hbm_read_bytes"], 320);
    EXPECT_GT(json["total"], 100 + 10);  // the latency of HBM, and ten cycles of the unit
}

}  // namespace
}  // namespace tessera
