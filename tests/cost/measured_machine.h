#pragma once

#include "machine/machine.h"

/// A machine whose rates are round numbers, so that costs are worked out by hand.
namespace tessera::testing {

inline machine::MicroKernelTime kernel_time(const char* name, const char* a, const char* b,
                                            std::map<std::string, int64_t> parameters,
                                            std::map<std::string, int64_t> sizes, const char* level,
                                            double seconds) {
    return {.name = name,
            .types = {{"A", a}, {"B", b}, {"C", "f32"}},
            .parameters = std::move(parameters),
            .sizes = std::move(sizes),
            .work = {},
            .level = level,
            .seconds = seconds};
}

/// Read rates of 100, 50, 20 and 10 GB/s; one row of a product with 16 columns and k = 1000 takes 1 us with B
/// in L2 and 11 us with B in memory, twelve rows take 6 us and 16 us.
inline machine::Machine measured_machine() {
    machine::Machine machine;
    machine.name = "round";
    machine.cores = 2;
    machine.memory = {{.name = "L1", .capacity_bytes = 32 << 10},
                      {.name = "L2", .capacity_bytes = 1 << 20},
                      {.name = "L3", .capacity_bytes = 8 << 20, .shared_by_cores = 2},
                      {.name = "memory", .capacity_bytes = int64_t{1} << 34, .shared_by_cores = 2}};
    const double rates[] = {100e9, 50e9, 20e9, 10e9};
    for (size_t level = 0; level < 4; ++level)
        machine.memory[level].read_bandwidth = {{.threads = 1, .bytes_per_second = rates[level]}};
    machine.units = {
        {.name = "vector",
         .kind = machine::UnitKind::kVector,
         .operands = {{"A", "f32", {{'i', 16}}}, {"B", "f32", {{'i', 16}}}, {"C", "f32", {{'i', 16}}}},
         .registers = 32,
         .peaks = {{.level = "L1", .operations_per_second = 100e9}}}};
    machine.barriers = {{.threads = 2, .seconds = 1e-6}};
    const std::map<std::string, int64_t> one = {{"rows", 1}, {"groups", 1}, {"lanes", 16}},
                                         many = {{"rows", 12}, {"groups", 2}, {"lanes", 16}};
    const std::map<std::string, int64_t> one_size = {{"m", 1}, {"n", 16}, {"k", 1000}},
                                         many_size = {{"m", 12}, {"n", 16}, {"k", 1000}};
    machine.micro_kernels = {kernel_time("contract", "f32", "f32", one, one_size, "L2", 1e-6),
                             kernel_time("contract", "f32", "f32", one, one_size, "memory", 11e-6),
                             kernel_time("contract", "f32", "f32", many, many_size, "L2", 6e-6),
                             kernel_time("contract", "f32", "f32", many, many_size, "memory", 16e-6)};
    // A load takes 1 ns, an operation 2 ns.
    for (const int64_t flops : {0, 10}) {
        machine::MicroKernelTime loops{
            .name = "loops", .types = {{"C", "f32"}}, .parameters = {{"lanes", 16}}};
        loops.sizes = {{"i", 160}};
        loops.work = {{"loads", 10}};
        if (flops > 0) loops.work["flops"] = flops;
        loops.level = "L2";
        loops.seconds = 10e-9 + 2e-9 * static_cast<double>(flops);
        machine.micro_kernels.push_back(loops);
    }
    return machine;
}

/// The same with a matrix unit: its tiles of 16 rows take 3 us with 4 rows, 5 us whole, and 8 us for two of
/// them in a block, for 16 columns and k = 1024. Its peak is 1 TFLOP/s, that of BF16 dot
/// products 200 GFLOP/s.
inline machine::Machine machine_with_tiles() {
    machine::Machine machine = measured_machine();
    machine.units.push_back({.name = "dot",
                             .kind = machine::UnitKind::kVector,
                             .operands = {{"A", "bf16", {{'i', 16}, {'k', 2}}},
                                          {"B", "bf16", {{'i', 16}, {'k', 2}}},
                                          {"C", "f32", {{'i', 16}}}},
                             .registers = 32,
                             .peaks = {{.level = "L1", .operations_per_second = 200e9}}});
    machine.units.push_back({.name = "tiles",
                             .kind = machine::UnitKind::kMatrix,
                             .operands = {{"A", "bf16", {{'m', 16}, {'k', 32}}},
                                          {"B", "bf16", {{'k', 16}, {'n', 16}, {'k', 2}}},
                                          {"C", "f32", {{'m', 16}, {'n', 16}}}},
                             .registers = 8,
                             .strided_rows = true,
                             .peaks = {{.level = "L1", .operations_per_second = 1e12}}});
    const auto add = [&](int64_t rows, int64_t groups, int64_t m, double seconds) {
        machine.micro_kernels.push_back(
            kernel_time("contract_tiles", "bf16", "bf16",
                        {{"rows", rows}, {"groups", groups}, {"lanes", 16}, {"tile_rows", 16}, {"depth", 32}},
                        {{"m", m}, {"n", 16}, {"k", 1024}}, "L2", seconds));
    };
    add(1, 3, 4, 3e-6);
    add(1, 3, 16, 5e-6);
    add(2, 2, 32, 8e-6);
    add(2, 2, 72, 99e-6);  // blocks of different heights, which tell of none
    return machine;
}

}  // namespace tessera::testing
