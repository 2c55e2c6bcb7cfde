// The simulator on what has a closed form: the rows of ../shared/chip/figures/closed_forms.json.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/packet_engine.h"
#include "chip/read_chip.h"
#include "chip/simulation.h"
#include "chip/trace.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::chip {
namespace {

Chip plain_chip(int32_t cores, double rate, double latency) {
    return {.name = "",
            .cores = cores,
            .sram_bytes = 1,
            .clock_hz = 1,
            .link_bytes_per_cycle = rate,
            .latency = latency,
            .hbm = {{.bytes_per_cycle = 1, .port_bytes_per_cycle = 1}},
            .units = {{"unit", 1}}};
}

Chip mesh_chip(int32_t rows, int32_t columns, double rate, double latency) {
    Chip chip = plain_chip(rows * columns, rate, latency);
    chip.topology = Topology::kMesh;
    chip.rows = rows;
    chip.columns = columns;
    chip.hbm[0].at = {0};
    return chip;
}

ProgramOperator empty_operator(const Chip& chip) {
    ProgramOperator op;
    op.preload_bytes.assign(static_cast<size_t>(chip.cores), 0);
    op.execute_bytes.assign(static_cast<size_t>(chip.cores), 0);
    return op;
}

double cycles_of(const Chip& chip, const DeviceProgram& program) {
    const Network network(chip);
    return totals_of(chip, network, simulate(chip, network, program, "program")).total;
}

double cycles_of(const Chip& chip, TransferKind kind, std::vector<Transfer> transfers) {
    DeviceProgram program{.operators = {empty_operator(chip)}, .entries = {{false, 0}, {true, 0}}};
    program.operators[0].transfers[static_cast<size_t>(kind)] = std::move(transfers);
    return cycles_of(chip, program);
}

/// `rounds` times, every rank sends its part to the next one: a step of reduce-scatter or all-gather.
double ring(int32_t ranks, int64_t bytes, double rate, double latency, int32_t rounds) {
    std::vector<Transfer> transfers;
    for (int32_t s = 0; s < rounds; ++s)
        for (int32_t c = 0; c < ranks; ++c) transfers.push_back({c, {(c + 1) % ranks}, bytes / ranks, s});
    // Two links from core to core share the latency.
    return cycles_of(plain_chip(ranks, rate, latency / 2), TransferKind::kShift, std::move(transfers));
}

/// Preload i + 1 runs beside execute i.
double pipeline(double preload, double execute, size_t operators) {
    Chip chip = plain_chip(1, 1, 0);
    DeviceProgram program;
    for (size_t i = 0; i < operators; ++i) {
        ProgramOperator op = empty_operator(chip);
        op.transfers[0] = {{0, {0}, static_cast<int64_t>(preload), 0}};
        op.tiles = {{0, 0, 0, static_cast<int64_t>(execute)}};
        program.operators.push_back(op);
        program.entries.push_back({false, i});
        if (i > 0) program.entries.push_back({true, i - 1});
    }
    program.entries.push_back({true, operators - 1});
    return cycles_of(chip, program);
}

/// Every core to every other, beginning with the next one.
std::vector<Transfer> all_to_all(int32_t cores, int64_t bytes) {
    std::vector<Transfer> transfers;
    for (int32_t by = 1; by < cores; ++by)
        for (int32_t c = 0; c < cores; ++c) transfers.push_back({c, {(c + by) % cores}, bytes, 0});
    return transfers;
}

TEST(ClosedForms, AreMet) {
    EXPECT_DOUBLE_EQ(ring(4, 65536, 8, 10, 3), 3 * (10 + 65536.0 / 4 / 8));
    EXPECT_DOUBLE_EQ(pipeline(100, 60, 8), 100 + 7 * 100 + 60);
    EXPECT_DOUBLE_EQ(cycles_of(plain_chip(16, 4, 0), TransferKind::kDistribute, all_to_all(16, 1024)),
                     15 * 1024 / 4.0);
    // 16 bytes cut through 7 links of 3 cycles.
    EXPECT_DOUBLE_EQ(cycles_of(mesh_chip(1, 8, 1, 3), TransferKind::kDistribute, {{0, {7}, 16, 0}}),
                     7 * 3 + 16);
}

TEST(ClosedForms, PublishedOnesAreMet) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/figures/closed_forms.json",
                                "closed forms of rings, pipelines and meshes");
    const auto file = test::shared_data("chip/figures/closed_forms.json").string();
    const auto json = nlohmann::json::parse(MappedFile::open(file).text());
    int checked = 0;
    for (const auto& row : json["rows"]) {
        const std::string what = row[0];
        const auto& p = row[1];
        const double cycles = row[2];
        SCOPED_TRACE(row.dump());
        ++checked;
        if (what == "ring reduce-scatter or all-gather") {
            EXPECT_NEAR(ring(p["ranks"], p["bytes"], p["bytes_per_cycle"], p["latency"],
                             p["ranks"].get<int32_t>() - 1),
                        cycles, 1e-9 * cycles);
        } else if (what == "ring all-reduce") {
            EXPECT_NEAR(ring(p["ranks"], p["bytes"], p["bytes_per_cycle"], p["latency"],
                             2 * (p["ranks"].get<int32_t>() - 1)),
                        cycles, 1e-9 * cycles);
        } else if (what == "cut-through, empty network") {
            // A flit is a byte, the form counts until the last one enters its last link's end: a cycle less.
            // The time at each end does not depend on the network.
            const int32_t hops = p["hops"];
            EXPECT_NEAR(cycles_of(mesh_chip(1, hops + 1, 1, p["cycles_per_hop"]), TransferKind::kDistribute,
                                  {{0, {hops}, p["flits"], 0}}) -
                            1 + 2 * p["cycles_at_each_end"].get<double>(),
                        cycles, 1e-9 * cycles);
        } else if (what.starts_with("two-stage pipeline")) {
            EXPECT_NEAR(pipeline(p["preload"], p["execute"], p["operators"]), cycles, 1e-9 * cycles);
        } else if (what == "all-to-all chip, every core sends to every other") {
            EXPECT_NEAR(cycles_of(plain_chip(p["cores"], p["bytes_per_cycle"], 0), TransferKind::kDistribute,
                                  all_to_all(p["cores"], p["bytes_per_pair"])),
                        cycles, 1e-9 * cycles);
        } else if (what == "all-to-all chip, all others send to one core") {
            std::vector<Transfer> transfers;
            for (int32_t c = 1; c < p["cores"]; ++c) transfers.push_back({c, {0}, p["bytes_each"], 0});
            EXPECT_NEAR(cycles_of(plain_chip(p["cores"], p["bytes_per_cycle"], 0), TransferKind::kDistribute,
                                  transfers),
                        cycles, 1e-9 * cycles);
        } else if (what.starts_with("k x k mesh")) {
            const int32_t k = p["k"];
            const double found = cycles_of(mesh_chip(k, k, p["bytes_per_cycle"], 0),
                                           TransferKind::kDistribute, all_to_all(k * k, p["bytes_per_pair"]));
            EXPECT_GE(found, cycles);
            EXPECT_LE(found, 2 * cycles);
        } else {
            --checked;  // queues
        }
    }
    EXPECT_GE(checked, 27);
}

/// Median over every other row of |predicted / measured - 1|.
double median_error(const nlohmann::json& rows, size_t first, double latency, double rate) {
    std::vector<double> errors;
    for (size_t i = first; i < rows.size(); i += 2) {
        // One microsecond is a cycle. Bytes are counted in units of 64, so that every rank has a whole part.
        const double bytes = rows[i][0].get<double>();
        const double found = ring(4, 4 * 64, 64 / (bytes / 4 / rate), latency, 6);
        errors.push_back(std::abs(found / rows[i][1].get<double>() - 1));
    }
    std::sort(errors.begin(), errors.end());
    return (errors[errors.size() / 2] + errors[(errors.size() - 1) / 2]) / 2;
}

TEST(ClosedForms, AllReduceOfFourDevices) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/figures/all_reduce.json", "measured times of all-reduce");
    const auto file = test::shared_data("chip/figures/all_reduce.json").string();
    const auto json = nlohmann::json::parse(MappedFile::open(file).text());
    double best = INFINITY, latency = 0, rate = 0;
    for (double l = 1.5; l < 3.5; l += 0.1)
        for (double r = 180e3; r < 290e3; r += 2e3)  // bytes a microsecond
            if (const double error = median_error(json["rows"], 1, l, r); error < best) {
                best = error;
                latency = l;
                rate = r;
            }
    EXPECT_LE(median_error(json["rows"], 0, latency, rate), 0.13)
        << latency << " us a step, " << rate << " bytes a us";
    for (const auto& row : json["rows"]) EXPECT_GE(row[1].get<double>(), 1.5 * row[0].get<double>() / 3e5);
}

/// The mean wait for a link, in units of the mean time on it: packets arrive by chance at core 0 for core 1.
double mean_wait(double load, bool is_exponential, int batches) {
    constexpr int kArrivals = 20'000, kWarmUp = 2'000;  // a queue that begins empty is too short
    constexpr double kBytes = 1e6;
    const Chip chip = mesh_chip(1, 2, kBytes, 0);
    const Network network(chip);
    std::mt19937_64 random(7);
    const auto exponential = [&] { return -std::log((static_cast<double>(random() >> 11) + 0.5) * 0x1p-53); };
    double waited = 0;
    for (int b = 0; b < batches; ++b) {
        EventQueue queue;
        std::vector<PacketRecord> packets;
        PacketEngine engine(chip, network, queue, &packets);
        const int32_t to[] = {1};
        double time = 0;
        for (int i = 0; i < kWarmUp + kArrivals; ++i) {
            time += exponential() / load;
            while (!queue.is_empty() && queue.next_time() <= time) engine.handle(queue.pop());
            const auto bytes = static_cast<int64_t>(is_exponential ? 1 + kBytes * exponential() : kBytes);
            engine.send({.kind = TransferKind::kDistribute, .from = 0, .to = to, .bytes = bytes}, time);
        }
        while (!queue.is_empty()) engine.handle(queue.pop());
        for (size_t i = kWarmUp; i < packets.size(); ++i)
            waited += packets[i].links[0].begin - packets[i].start;
    }
    return waited / kArrivals / batches;
}

TEST(ClosedForms, QueuesOfPoissonArrivals) {
    EXPECT_NEAR(mean_wait(0.5, false, 50), 0.5, 0.01);
    EXPECT_NEAR(mean_wait(0.5, true, 50), 1.0, 0.02);
    EXPECT_NEAR(mean_wait(0.8, false, 50), 2.0, 0.04);
    EXPECT_NEAR(mean_wait(0.8, true, 50), 4.0, 0.08);
    EXPECT_NEAR(mean_wait(0.9, false, 100), 4.5, 0.09);
    EXPECT_NEAR(mean_wait(0.9, true, 150), 9.0, 0.18);
}

}  // namespace
}  // namespace tessera::chip
