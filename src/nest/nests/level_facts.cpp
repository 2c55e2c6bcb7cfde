#include "nest/nests/level_facts.h"

#include <algorithm>
#include <numeric>

#include "ir/checked_arithmetic.h"
#include "machine/published_models.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

int64_t whole_bytes(const Kernel& kernel, int tensor) {
    Box whole;
    for (const int64_t extent : kernel.tensors[static_cast<size_t>(tensor)].shape)
        whole.push_back({0, extent});
    return kernel.bytes(tensor, whole);
}

}  // namespace

std::string_view name(LevelCost cost) {
    switch (cost) {
        case LevelCost::kNncase:
            return "nncase";
        case LevelCost::kOverlap:
            return "overlap";
        case LevelCost::kSerial:
            break;
    }
    return "serial";
}

double LevelPrice::cost(LevelCost cost) const {
    switch (cost) {
        case LevelCost::kNncase:
            return machine::nncase_seconds(memory, compute);
        case LevelCost::kOverlap:
            return std::accumulate(
                levels.begin(), levels.end(), compute,
                [](double most, const LevelUse& level) { return std::max(most, level.seconds); });
        case LevelCost::kSerial:
            break;
    }
    return memory + compute;
}

LevelPrice price(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                 const LevelMovement& movement) {
    LevelPrice price{.levels = std::vector<LevelUse>(machine.levels.size()),
                     .memory = 0,
                     .compute = movement.compute_seconds,
                     .is_feasible = movement.units <= machine.units};
    const auto add = [&](int64_t& sum, int64_t bytes) { sum = checked_add(sum, bytes, kernel.where); };
    for (size_t t = 0; t < kernel.tensors.size(); ++t)
        if (nest.home[t] == 0) add(price.levels[0].held, whole_bytes(kernel, static_cast<int>(t)));
    for (const LevelBufferCounts& buffer : movement.buffers) {
        add(price.levels[static_cast<size_t>(buffer.level)].held, buffer.box_bytes);
        if (buffer.role == BufferRole::kKept) continue;
        for (int level = buffer.other + 1; level <= buffer.level; ++level) {
            LevelUse& crossed = price.levels[static_cast<size_t>(level)];
            add(crossed.bytes_in, buffer.loads.bytes);
            add(crossed.bytes_in, buffer.reloads.bytes);
            add(crossed.bytes_out, buffer.stores.bytes);
        }
    }
    for (size_t l = 0; l < machine.levels.size(); ++l) {
        const MemoryLevel& level = machine.levels[l];
        LevelUse& use = price.levels[l];
        if (l > 0) {
            const int64_t bytes = level.is_per_unit ? movement.most_bytes_of_unit[l]
                                                    : checked_add(use.bytes_in, use.bytes_out, kernel.where);
            use.seconds = static_cast<double>(bytes) / level.bandwidth;
            price.memory += use.seconds;
        }
        if (level.capacity && use.held > *level.capacity) price.is_feasible = false;
    }
    return price;
}

void check_one_nest_of_levels(const KernelFile& file) {
    if (!file.levels)
        throw Error(file.where, "", "has no memory levels",
                    "add lines `level memory`, `level L1 capacity 32768 bandwidth 1e11` and `peak 1e11`, or "
                    "ask `tessera nest`");
    if (!file.nest) throw Error(file.where, "", "holds no nest", "add a line `nest` with the nest below it");
    if (file.cost || file.sizes || file.reorder)
        throw Error(file.where, "", "is no nest: `cost`, `sizes` and `reorder` describe an open problem",
                    "remove these lines, or ask `tessera schedule`");
}

LevelVerdict derive_level_facts(const KernelFile& file, const WalkOptions& options) {
    check_one_nest_of_levels(file);
    return derive_level_facts(make_kernel(file), *file.levels, *file.nest, options);
}

LevelVerdict derive_level_facts(const Kernel& kernel, const LevelMachine& machine, std::string_view text,
                                const WalkOptions& options) {
    const auto nest = parse_nest(kernel, text, machine);
    if (const auto* illegal = std::get_if<Illegal>(&nest)) return *illegal;
    const auto movement = walk(kernel, machine, std::get<Nest>(nest), options);
    if (const auto* illegal = std::get_if<Illegal>(&movement)) return *illegal;
    const auto& moved = std::get<LevelMovement>(movement);
    LevelFacts facts{.units = moved.units,
                     .operators = operator_facts(kernel, moved.operators),
                     .buffers = moved.buffers,
                     .flops = 0,
                     .price = price(kernel, machine, std::get<Nest>(nest), moved)};
    for (const OperatorFacts& op : facts.operators)
        facts.flops = checked_add(facts.flops, op.flops, kernel.where);
    return facts;
}

}  // namespace tessera::nests
