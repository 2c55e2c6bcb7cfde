#include "nests/nest_facts.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

/// The operations of all executions (zoo notation, work), `where` ignored.
facts::OperationCount work_of(const Operator& op, const OperatorCounts& counts, const std::string& where) {
    facts::OperationCount total;
    const auto charge = [&](int64_t times, facts::OperationCount each) {
        total.flops = checked_add(total.flops, checked_mul(times, each.flops, where), where);
        total.special = checked_add(total.special, checked_mul(times, each.special, where), where);
    };
    if (op.monoid() == Monoid::kSoftmaxSum) {
        charge(counts.held_points, {op.body[0].flops + 3, op.body[0].special + 1});
        charge(counts.points, {op.body[1].flops + 2, op.body[1].special});
        return total;
    }
    charge(counts.points, {op.body[0].flops + (op.monoid() != Monoid::kNone), op.body[0].special});
    charge(counts.elements_ended, op.post);
    return total;
}

NestFacts facts_of(const Kernel& kernel, Movement movement, const std::optional<MachineRates>& machine) {
    NestFacts facts{
        .units = movement.units, .operators = {}, .buffers = std::move(movement.buffers), .model = {}};
    for (size_t i = 0; i < kernel.operators.size(); ++i) {
        const Operator& op = kernel.operators[i];
        const OperatorCounts& counts = movement.operators[i];
        const facts::OperationCount work = work_of(op, counts, kernel.where);
        int64_t iterations = 1;
        for (const int64_t extent : op.extents()) iterations *= extent;  // their product fits: bound_extents
        facts.operators.push_back(
            {op.name(), counts.executions, counts.points, iterations, work.flops, work.special});
        facts.flops = checked_add(facts.flops, work.flops, kernel.where);
    }
    for (const BufferCounts& buffer : facts.buffers) {
        facts.footprint = checked_add(facts.footprint, buffer.box_bytes, kernel.where);
        for (const Transfers* moved : {&buffer.loads, &buffer.stores, &buffer.reloads})
            facts.bytes = checked_add(facts.bytes, moved->bytes, kernel.where);
    }
    if (machine) facts.model = model_times(facts.bytes, facts.flops, facts.units, *machine);
    return facts;
}

}  // namespace

Verdict derive_facts(const Kernel& kernel, const Nest& nest, const std::optional<MachineRates>& machine,
                     const WalkOptions& options) {
    Movement movement = walk(kernel, nest, options);
    if (movement.wrong_numbers) return Illegal{Illegal::Kind::kNumbers, *movement.wrong_numbers};
    return facts_of(kernel, std::move(movement), machine);
}

std::optional<Illegal> why_illegal(const Kernel& kernel, std::string_view nest,
                                   const std::vector<std::string>& visible, const WalkOptions& options) {
    const auto parsed = parse_nest(kernel, nest, visible);
    if (const auto* illegal = std::get_if<Illegal>(&parsed)) return *illegal;
    const Movement movement = walk(kernel, std::get<Nest>(parsed), options);
    if (movement.wrong_numbers) return Illegal{Illegal::Kind::kNumbers, *movement.wrong_numbers};
    return std::nullopt;
}

Verdict derive_facts(const KernelFile& file, const WalkOptions& options) {
    if (!file.nest) throw Error(file.where, "", "holds no nest", "add a line `nest` with the nest below it");
    if (file.batch || file.multiple || file.capacity)
        throw Error(file.where, "", "is no nest: `batch`, `multiple` and `capacity` describe a space",
                    "remove these lines, or the nest");
    const Kernel kernel = make_kernel(file);
    const auto nest = parse_nest(kernel, *file.nest, file.visible.value_or(std::vector<std::string>{}));
    if (const auto* illegal = std::get_if<Illegal>(&nest)) return *illegal;
    return derive_facts(kernel, std::get<Nest>(nest), file.machine, options);
}

}  // namespace tessera::nests
