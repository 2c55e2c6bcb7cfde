#pragma once

#include <gtest/gtest.h>

#include "search/layouts/choose_layouts.h"

/// Machines that exist as a description only, and the layouts that are best on them.
namespace tessera::layouts::testing {

struct Units {
    int64_t lanes = 16;
    double vector_peak = 1e11;
    double tile_peak = 2e12;  ///< 0: no matrix unit
    std::string type = "f32";
    std::vector<machine::LaneAxis> a = {{'m', 16}, {'k', 16}}, b = {{'n', 16}, {'k', 16}},
                                   c = {{'m', 16}, {'n', 16}};
    bool strided_rows = false;
    double near_rate = 1e12;  ///< of the caches, bytes a second
};

inline machine::Machine machine_with(const Units& units) {
    machine::Machine machine;
    machine.name = "described";
    const auto level = [](const char* name, int64_t bytes, double rate) {
        return machine::MemoryLevel{.name = name,
                                    .capacity_bytes = bytes,
                                    .shared_by_cores = 1,
                                    .latency_seconds = {},
                                    .read_bandwidth = {{.threads = 1, .bytes_per_second = rate}}};
    };
    machine.memory = {level("L1", 64 << 10, units.near_rate), level("L2", 4 << 20, units.near_rate),
                      level("memory", int64_t{1} << 34, 1e11)};
    machine.units = {{.name = "vector",
                      .kind = machine::UnitKind::kVector,
                      .operands = {{"A", "f32", {{'i', units.lanes}}},
                                   {"B", "f32", {{'i', units.lanes}}},
                                   {"C", "f32", {{'i', units.lanes}}}},
                      .registers = 32,
                      .strided_rows = false,
                      .peaks = {{.level = "L1", .operations_per_second = units.vector_peak}}}};
    if (units.tile_peak > 0)
        machine.units.push_back(
            {.name = "tiles",
             .kind = machine::UnitKind::kMatrix,
             .operands = {{"A", units.type, units.a}, {"B", units.type, units.b}, {"C", "f32", units.c}},
             .registers = 8,
             .strided_rows = units.strided_rows,
             .peaks = {{.level = "L1", .operations_per_second = units.tile_peak}}});
    return machine;
}

struct Outcome {
    plan::Plan plan;
    Search search;
    const plan::SpecialisationPlan& only() const { return plan.specialisations.front(); }
    std::string layout(const std::string& value) const {
        const auto found = only().tensors.find(value);
        return found == only().tensors.end() ? "row-major" : print(found->second.layout);
    }
    std::string stored(const std::string& value) const {
        const auto found = plan.stored.find(value);
        return found == plan.stored.end() ? "row-major" : print(found->second);
    }
};

inline Outcome search(const Graph& graph, const machine::Machine& machine) {
    plan::Plan initial{.graph = graph.name, .machine = machine.name};
    initial.specialisations = {{.name = "all"}};
    SearchOptions options{.units = machine.units,
                          .costs = {by_units(graph, initial, initial.specialisations.front(), machine)}};
    Search found = search_layouts(graph, initial, options);
    EXPECT_EQ(found.saturation.stop, egraph::StopReason::kSaturated);
    EXPECT_EQ(found.result.status, extraction::Status::kOptimal);
    EXPECT_TRUE(violations(found.problem.problem, found.result.choice).empty());
    return {decision_of(graph, initial, found), std::move(found)};
}

}  // namespace tessera::layouts::testing
