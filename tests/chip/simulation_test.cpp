#include "chip/simulation.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/random_program.h"
#include "chip/read_chip.h"
#include "chip/trace.h"
#include "chip/trace_checker.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

/// A simulation with what it ran on.
struct Ran {
    explicit Ran(const Json& chip_json, const Json& program_json)
        : chip(read_chip(chip_json.dump(), "chip.json")),
          program(read_device_program(program_json.dump(), "program.json", chip)),
          network(chip),
          simulation(simulate(chip, network, program, "program.json")),
          trace(trace_text(chip, network, program, chip_json.dump(2), simulation)) {}

    Chip chip;
    DeviceProgram program;
    Network network;
    Simulation simulation;
    std::string trace;
};

std::string simulation_error(const Json& chip, const Json& program) {
    try {
        const Ran ran(chip, program);
        return "ran";
    } catch (const Error& error) {
        return error.what();
    }
}

/// "p0 e0": preload 0, execute 0.
Json steps(const std::string& text) {
    Json entries = Json::array();
    for (size_t at = 0; at < text.size(); at += 3)
        entries.push_back(Json::array({text[at] == 'p' ? "preload" : "execute", text[at + 1] - '0'}));
    return entries;
}

Json two_cores() {
    return {{"name", "two"},
            {"cores", 2},
            {"sram_bytes", 1000},
            {"clock_hz", 1000000000},
            {"topology", {{"kind", "all-to-all"}, {"link_bytes_per_cycle", 4}, {"latency", 5}}},
            {"hbm", {{{"bytes_per_cycle", 16}, {"port_bytes_per_cycle", 16}, {"latency", 40}}}},
            {"compute", {{"matrix", 10}}}};
}

Json one_operator() {
    return {{"name", "op"},
            {"preload", {{{"to", {0}}, {"bytes", 64}}}},
            {"distribute", {{{"from", 0}, {"to", {1}}, {"bytes", 32}}}},
            {"compute", {{{"step", 0}, {"core", 1}, {"unit", "matrix"}, {"flops", 300}}}},
            {"store", {{{"from", 1}, {"to", {"h0"}}, {"bytes", 16}}}},
            {"preload_bytes", {400, 0}},
            {"execute_bytes", {100, 200}}};
}

TEST(Simulate, FollowsOneOperatorByHand) {
    const Ran ran(two_cores(), {{"operators", {one_operator()}}, {"program", steps("p0 e0")}});
    // 40 of HBM, 5 of the first link, 64 / 4 on the slow second one, 5 of it.
    EXPECT_DOUBLE_EQ(ran.simulation.preloads[0].end, 40 + 5 + 16 + 5);
    // Then 32 bytes over two links, cut through; the tile; the store, whose fast link waits for its bytes.
    const double begin = 66, distributed = begin + 5 + 8 + 5, computed = distributed + 30;
    EXPECT_DOUBLE_EQ(ran.simulation.tiles[0].start, distributed);
    EXPECT_DOUBLE_EQ(ran.simulation.tiles[0].end, computed);
    EXPECT_DOUBLE_EQ(ran.simulation.executes[0].end, computed + 4 + 5 + 5 + 40);
    const PacketRecord& store = ran.simulation.packets.back();
    EXPECT_DOUBLE_EQ(store.links[1].begin, computed + 5 + 4 - 1);
    EXPECT_DOUBLE_EQ(store.links[1].until, computed + 5 + 4);
    const SimulationTotals totals = totals_of(ran.chip, ran.network, ran.simulation);
    EXPECT_DOUBLE_EQ(totals.total, computed + 54);
    EXPECT_DOUBLE_EQ(totals.preload_only, 66);
    EXPECT_DOUBLE_EQ(totals.execute_only, totals.total - 66);
    EXPECT_DOUBLE_EQ(totals.stalled, totals.total - 66 - 30);
    EXPECT_EQ(totals.sram_peak, (std::vector<int64_t>{400, 200}));
}

TEST(Simulate, TracesOfRandomProgramsHold) {
    for (unsigned seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        const RandomProgram random(seed);
        const Ran ran(random.chip(), random.program());
        const auto faults = check_trace(ran.trace, random.chip(), random.program());
        EXPECT_TRUE(faults.empty()) << faults.front().rule << ": " << faults.front().reason;
        EXPECT_TRUE(Json::accept(chrome_trace_text(ran.network, ran.program, ran.simulation)));
    }
}

TEST(Simulate, IsNeverBelowItsBounds) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomProgram random(seed);
        const Ran ran(random.chip(), random.program());
        const SimulationTotals totals = totals_of(ran.chip, ran.network, ran.simulation);
        for (const double used : totals.compute_utilisation) EXPECT_LE(used, 1 + 1e-9);
        for (const double used : totals.hbm_utilisation) EXPECT_LE(used, 1 + 1e-9);
        for (size_t l = 0; l < totals.link_bytes.size(); ++l)
            EXPECT_LE(static_cast<double>(totals.link_bytes[l]) / ran.network.links()[l].bytes_per_cycle,
                      totals.total * (1 + 1e-9));
    }
}

TEST(Simulate, RefusesDeadlocksWithTheMoment) {
    const Json program = {{"operators", {one_operator(), one_operator()}}, {"program", steps("p0 e0 e1 p1")}};
    EXPECT_THAT(
        simulation_error(two_cores(), program),
        HasSubstr("program.json: `program[2]`: execute 1 (op) waits for preload 1, which is issued after it: "
                  "deadlock at cycle 168.000"));
}

TEST(Simulate, RefusesOverflowsWithTheMoment) {
    Json program = {{"operators", {one_operator(), one_operator()}}, {"program", steps("p0 p1 e0 e1")}};
    EXPECT_EQ(simulation_error(two_cores(), program), "ran");
    // Execute 0 begins at the same moment: its 100 bytes have taken the place of 400.
    program["operators"][1]["preload_bytes"][0] = 901;
    EXPECT_THAT(
        simulation_error(two_cores(), program),
        HasSubstr(
            "program.json: `operators[1]`: the preload of operator 1 (op) overflows core 0 at cycle 66.000: "
            "it takes 901 bytes, 100 of 1000 are held"));
    program["operators"][1]["preload_bytes"][0] = 500;
    program["operators"][0]["execute_bytes"][0] = 501;
    program["program"] = steps("p1 p0 e0 e1");
    EXPECT_THAT(
        simulation_error(two_cores(), program),
        HasSubstr(
            "the execute of operator 0 (op) overflows core 0 at cycle 132.000: it takes 501 bytes, 500 of "
            "1000 are held"));
}

TEST(Simulate, RefusesProgramsWithoutWork) {
    const Json empty = {
        {"preload_bytes", {0, 0}}, {"execute_bytes", {0, 0}}, {"preload", {{{"to", {0}}, {"bytes", 0}}}}};
    EXPECT_THAT(simulation_error(two_cores(), {{"operators", {empty}}, {"program", steps("p0 e0")}}),
                HasSubstr("`operators`: have no work"));
}

TEST(TraceChecker, FindsWhatIsBroken) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/traces/broken.json", "the checker of the tests on broken traces");
    const auto folder = test::shared_data("chip/traces");
    const auto text = [&](const std::string& name) {
        return std::string(MappedFile::open((folder / name).string()).text());
    };
    for (const std::string name : {"all_to_all", "mesh"}) {
        const Json chip = Json::parse(text(name + ".chip.json")),
                   program = Json::parse(text(name + ".program.json"));
        EXPECT_TRUE(check_trace(text(name + ".jsonl"), chip, program).empty());
        const Ran ran(chip, program);
        EXPECT_TRUE(check_trace(ran.trace, chip, program).empty());
        EXPECT_LE(
            totals_of(ran.chip, ran.network, ran.simulation).total,
            Json::parse(text(name + ".jsonl").substr(text(name + ".jsonl").rfind("{\"total\"")))["total"]);
    }
    const Json broken = Json::parse(text("broken.json"));
    EXPECT_GE(broken.size(), 17u);
    for (const auto& [file, what] : broken.items()) {
        const std::string of = what["of"];
        const auto faults = check_trace(text(file), Json::parse(text(of + ".chip.json")),
                                        Json::parse(text(of + ".program.json")));
        EXPECT_EQ(rules_of(faults), (std::set<std::string>{what["rule"]})) << file;
    }
}

/// A long preload to cores, beside an execute that adds parts of a sum in `at` cycles.
Json long_preload_beside(int64_t at, const Json& to) {
    return {{"operators",
             {{{"name", "sum"},
               {"compute", {{{"step", 0}, {"core", 0}, {"unit", "matrix"}, {"flops", 10 * at}}}},
               {"reduce", {{{"step", 0}, {"from", 0}, {"to", {1}}, {"bytes", 64}}}},
               {"preload_bytes", {0, 0}},
               {"execute_bytes", {100, 100}}},
              {{"name", "long"},
               {"preload", {{{"to", to}, {"bytes", 4096}}}},
               {"compute", {{{"step", 0}, {"core", 1}, {"unit", "matrix"}, {"flops", 10}}}},
               {"preload_bytes", {400, 400}},
               {"execute_bytes", {100, 200}}}}},
            {"program", steps("p0 p1 e0 e1")}};
}

TEST(Simulate, LongPacketsOfPreloadsGiveWayToExecutes) {
    // 40 of HBM, 5 and 5 of two links, 4096 / 4; a packet of 64 bytes is 16 on its second link.
    const double alone = 40 + 5 + 1024 + 5;
    for (const Json& to : {Json{1}, Json{0, 1}})
        for (const int64_t at : {100, 301, 420, 1055}) {
            SCOPED_TRACE(::testing::Message() << at << " " << to.dump());
            const Json program = long_preload_beside(at, to);
            const Ran ran(two_cores(), program);
            EXPECT_THAT(check_trace(ran.trace, two_cores(), program), IsEmpty());
            // It asks for the second link 5 behind its begin, and waits for 64 cycles of the other at most.
            const double asks = static_cast<double>(at) + 5;
            const double gets = 45 + 64 * std::ceil((asks - 45) / 64);
            EXPECT_NEAR(ran.simulation.executes[0].end, std::min(gets, alone - 5) + 16 + 5, 1e-6);
            EXPECT_NEAR(ran.simulation.preloads[1].end, alone + (gets < alone - 5 ? 16 : 0), 1e-6);
            EXPECT_EQ(ran.simulation.packets.size(), gets < alone - 5 ? 3U : 2U);
        }
}

TEST(Simulate, StoresAreBeforePreloads) {
    Json program = long_preload_beside(100, {1});
    program["operators"][0].erase("reduce");
    program["operators"][0]["store"] = {{{"from", 0}, {"to", {"h0"}}, {"bytes", 64}}};
    for (int i = 0; i < 20; ++i)
        program["operators"][1]["preload"].push_back({{"to", {i % 2}}, {"bytes", 4096}});
    const Ran ran(two_cores(), program);
    EXPECT_THAT(check_trace(ran.trace, two_cores(), program), IsEmpty());
    // A part of the preload, 256 bytes by 16, may be under way.
    EXPECT_LE(ran.simulation.executes[0].end, 100 + 16 + 5 + 16 + 5 + 40 + 5);
}

TEST(Simulate, TakesAsLongWithoutRecords) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomProgram random(seed);
        const Chip chip = read_chip(random.chip().dump(), "chip.json");
        const DeviceProgram program = read_device_program(random.program().dump(), "program.json", chip);
        const Network network(chip);
        const auto ends = [&](Recording recording) {
            std::vector<double> times;
            try {
                const Simulation run = simulate(chip, network, program, "program.json", recording);
                for (const auto* spans : {&run.preloads, &run.executes})
                    for (const Span& span : *spans) {
                        times.push_back(span.begin);
                        times.push_back(span.end);
                    }
                if (recording == Recording::kSpans) {
                    EXPECT_TRUE(run.packets.empty() && run.tiles.empty() && run.spaces.empty());
                }
            } catch (const Error&) {
                times.push_back(-1);
            }
            return times;
        };
        EXPECT_EQ(ends(Recording::kEverything), ends(Recording::kSpans)) << "seed " << seed;
    }
}

TEST(Simulate, PositionsMayShareAnOperator) {
    const RandomProgram random(7);
    const Chip chip = read_chip(random.chip().dump(), "chip.json");
    const DeviceProgram whole = read_device_program(random.program().dump(), "program.json", chip);
    const Network network(chip);
    DeviceProgram shared{
        .name = "shared", .operators = {whole.operators[0]}, .entries = {}, .sequence = {0, 0, 0}};
    DeviceProgram repeated{.name = "repeated", .operators = {}, .entries = {}};
    for (size_t i = 0; i < 3; ++i) {
        repeated.operators.push_back(whole.operators[0]);
        for (const bool is_execute : {false, true}) {
            shared.entries.push_back({is_execute, i});
            repeated.entries.push_back({is_execute, i});
        }
    }
    const Simulation a = simulate(chip, network, shared, "shared"),
                     b = simulate(chip, network, repeated, "repeated");
    ASSERT_EQ(a.executes.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(a.executes[i].end, b.executes[i].end);
    EXPECT_GT(a.executes[2].end, a.executes[0].end);
}

}  // namespace
}  // namespace tessera::chip
