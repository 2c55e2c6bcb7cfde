#include "nest/nests/nest_facts.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "nest/nests/operator_work.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

NestFacts facts_of(const Kernel& kernel, Movement movement,
                   const std::optional<machine::PeakRates>& machine) {
    NestFacts facts{.units = movement.units,
                    .operators = operator_facts(kernel, movement.operators),
                    .buffers = std::move(movement.buffers),
                    .model = {}};
    for (const OperatorFacts& op : facts.operators)
        facts.flops = checked_add(facts.flops, op.flops, kernel.where);
    for (const BufferCounts& buffer : facts.buffers) {
        facts.footprint = checked_add(facts.footprint, buffer.box_bytes, kernel.where);
        for (const Transfers* moved : {&buffer.loads, &buffer.stores, &buffer.reloads})
            facts.bytes = checked_add(facts.bytes, moved->bytes, kernel.where);
    }
    if (machine) facts.model = machine::mcfuser_times(facts.bytes, facts.flops, facts.units, *machine);
    return facts;
}

}  // namespace

std::vector<OperatorFacts> operator_facts(const Kernel& kernel, const std::vector<OperatorCounts>& counts) {
    std::vector<OperatorFacts> facts;
    for (size_t i = 0; i < kernel.operators.size(); ++i) {
        const Operator& op = kernel.operators[i];
        const facts::OperationCount work = work_of(op, counts[i], kernel.where);
        int64_t iterations = 1;
        for (const int64_t extent : op.extents()) iterations *= extent;  // their product fits: bound_extents
        facts.push_back(
            {op.name(), counts[i].executions, counts[i].points, iterations, work.flops, work.special});
    }
    return facts;
}

Verdict derive_facts(const Kernel& kernel, const Nest& nest, const std::optional<machine::PeakRates>& machine,
                     const WalkOptions& options) {
    Movement movement = walk(kernel, nest, options);
    if (movement.wrong_numbers) return Illegal{Illegal::Kind::kNumbers, *movement.wrong_numbers};
    return facts_of(kernel, std::move(movement), machine);
}

Verdict derive_facts(const Kernel& kernel, std::string_view text, const std::vector<std::string>& visible,
                     const std::optional<machine::PeakRates>& machine, const WalkOptions& options) {
    const auto nest = parse_nest(kernel, text, visible);
    if (const auto* illegal = std::get_if<Illegal>(&nest)) return *illegal;
    return derive_facts(kernel, std::get<Nest>(nest), machine, options);
}

std::optional<Illegal> why_illegal(const Kernel& kernel, std::string_view nest,
                                   const std::vector<std::string>& visible, const WalkOptions& options) {
    const auto parsed = parse_nest(kernel, nest, visible);
    if (const auto* illegal = std::get_if<Illegal>(&parsed)) return *illegal;
    const Movement movement = walk(kernel, std::get<Nest>(parsed), options);
    if (movement.wrong_numbers) return Illegal{Illegal::Kind::kNumbers, *movement.wrong_numbers};
    return std::nullopt;
}

void check_one_nest(const KernelFile& file) {
    if (!file.nest) throw Error(file.where, "", "holds no nest", "add a line `nest` with the nest below it");
    if (file.levels)
        throw Error(file.where, "", "has memory levels", "ask `tessera price`, or remove the levels");
    if (file.batch || file.multiple || file.capacity)
        throw Error(file.where, "", "is no nest: `batch`, `multiple` and `capacity` describe a space",
                    "remove these lines, or the nest");
}

Verdict derive_facts(const KernelFile& file, const WalkOptions& options) {
    check_one_nest(file);
    return derive_facts(make_kernel(file), *file.nest, file.visible.value_or(std::vector<std::string>{}),
                        file.machine, options);
}

}  // namespace tessera::nests
