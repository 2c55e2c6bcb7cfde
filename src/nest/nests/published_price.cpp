#include "nest/nests/published_price.h"

#include <algorithm>
#include <map>

#include "ir/checked_arithmetic.h"
#include "ir/facts/touched.h"
#include "ir/facts/work.h"

namespace tessera::nests {
namespace {

using machine::PublishedModel;
using machine::PublishedPrice;

PublishedPrice of_nncase(double memory, double compute) {
    return {PublishedModel::kNncase, machine::nncase_seconds(memory, compute), memory, compute};
}

PublishedPrice of_mcfuser(const machine::McfuserTimes& times) {
    return {PublishedModel::kMcfuser, times.estimate, times.memory, times.compute, times.alpha};
}

PublishedPrice of_roofline(const LeastWork& least, const machine::PeakRates& machine) {
    const auto flops = static_cast<double>(least.flops), bytes = static_cast<double>(least.bytes);
    return {PublishedModel::kRoofline, machine::roofline_seconds(flops, bytes, machine),
            bytes / machine.bytes_per_second, flops / machine.operations_per_second};
}

}  // namespace

LeastWork least_work(const Kernel& kernel, const std::vector<std::string>& visible) {
    LeastWork least;
    std::map<int, int64_t> read;  // bytes of outside tensors: the largest part that one operator reads
    const int last = static_cast<int>(kernel.operators.size()) - 1;
    for (int o = 0; o <= last; ++o) {
        const Operator& op = kernel.operators[static_cast<size_t>(o)];
        least.flops = checked_add(least.flops, facts::derive_work(op.bound).flops, kernel.where);
        const std::vector<facts::Touched> touched = facts::derive_touched(op.bound);
        for (size_t t = 0; t < touched.size(); ++t) {
            const std::string& name = op.bound.definition.tensors[t].name;
            const int tensor = kernel.find_tensor(name);
            const Tensor& found = kernel.tensors[static_cast<size_t>(tensor)];
            if (found.maker < 0)
                read[tensor] = std::max(read[tensor], touched[t].bytes);
            else if (found.maker == o && (o == last || std::ranges::find(visible, name) != visible.end()))
                least.bytes = checked_add(least.bytes, touched[t].bytes, kernel.where);
        }
    }
    for (const auto& [tensor, bytes] : read) least.bytes = checked_add(least.bytes, bytes, kernel.where);
    return least;
}

PublishedPrice price_published(PublishedModel model, const NestFacts& facts, const LeastWork& least,
                               const machine::PeakRates& machine) {
    const machine::McfuserTimes times =
        machine::mcfuser_times(facts.bytes, facts.flops, facts.units, machine);
    switch (model) {
        case PublishedModel::kNncase:
            return of_nncase(times.memory, times.compute);
        case PublishedModel::kMcfuser:
            return of_mcfuser(times);
        case PublishedModel::kRoofline:
            break;
    }
    return of_roofline(least, machine);
}

PublishedPrice price_published(PublishedModel model, const LevelFacts& facts, const LeastWork& least,
                               const LevelMachine& machine) {
    const MemoryLevel& outer = machine.levels[1];
    const auto units = static_cast<double>(machine.units);
    const machine::PeakRates rates{.bytes_per_second = outer.bandwidth * (outer.is_per_unit ? units : 1),
                                   .operations_per_second = machine.peak * units,
                                   .units = machine.units};
    const LevelUse& crossed = facts.price.levels[1];
    switch (model) {
        case PublishedModel::kNncase:
            return of_nncase(facts.price.memory, facts.price.compute);
        case PublishedModel::kMcfuser:
            return of_mcfuser(machine::mcfuser_times(crossed.bytes_in + crossed.bytes_out, facts.flops,
                                                     facts.units, rates));
        case PublishedModel::kRoofline:
            break;
    }
    return of_roofline(least, rates);
}

}  // namespace tessera::nests
