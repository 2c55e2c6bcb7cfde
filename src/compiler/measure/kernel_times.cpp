// The kernels are what the compiler emits for a graph of one operator, called as the run time calls a step.
// The copy of the constants that a call gets decides where B comes from: always the same copy, or in turn all
// copies that the main memory's working set holds.

#include "compiler/measure/kernel_times.h"

#include <algorithm>

#include "compiler/measure/bandwidth.h"
#include "compiler/measure/call_memory.h"
#include "compiler/measure/kernel_cases.h"
#include "compiler/measure/kernel_code.h"
#include "compiler/measure/near_memory.h"
#include "compiler/measure/samples.h"
#include "support/limits.h"

namespace tessera::measure {
namespace {

/// There are hundreds of kernels, each called many times in a sample of that share.
constexpr double kShareOfSample = 0.2;

struct Level {
    std::string name;
    int64_t bytes;  ///< that the copies of the constants take together, at least one copy
};

std::vector<Level> levels_of(const machine::Machine& machine, const MeasureOptions& options) {
    std::vector<Level> levels;
    if (machine.memory.size() > 1) levels.push_back({machine.memory[1].name, 0});
    const size_t last = machine.memory.size() - 1;
    levels.push_back({machine.memory[last].name, working_set(machine, last, 1, options)});
    return levels;
}

/// The memory delivers at least the rate at which a kernel reads, even if less was measured: the load by
/// others on the host varies.
void expect_bandwidth(machine::MemoryLevel& memory, double bytes_per_second) {
    for (machine::ReadBandwidth& entry : memory.read_bandwidth)
        entry.bytes_per_second = std::max(entry.bytes_per_second, two_digits(bytes_per_second));
}

}  // namespace

void measure_micro_kernels(machine::Machine& machine, const MeasureOptions& options) {
    std::vector<KernelSubject> subjects = kernel_subjects(machine);
    if (!options.every_type)
        std::erase_if(subjects, [](const KernelSubject& subject) {
            const auto b = subject.types.find("B");
            return b != subject.types.end() && b->second != "f32" && b->second != "q8_0";
        });
    const std::vector<KernelCase> cases = kernel_cases(subjects, machine);
    const KernelCode code(cases, machine, options);
    int64_t most = 0;
    for (const KernelCase& each : cases) most = std::max(most, each.constants_bytes);
    const std::vector<Level> levels = levels_of(machine, options);
    for (const Level& level : levels) most = std::max(most, level.bytes);
    PinnedThreads one(1);
    NearMemory constants(one, most, options);

    std::vector<CallMemory> memory;
    for (const KernelCase& each : cases) memory.emplace_back(subjects[each.subject].graph, each.arena_bytes);
    std::vector<Sample> samples;
    std::vector<double> streamed_bytes;
    machine.micro_kernels.clear();
    for (size_t i = 0; i < cases.size(); ++i) {
        const int64_t stride = rounded_to_lines(cases[i].constants_bytes);
        for (const Level& level : levels) {
            const KernelSubject& subject = subjects[cases[i].subject];
            // Nothing streams: all of it is near.
            if (subject.streamed.empty() && &level != &levels.front()) continue;
            machine.micro_kernels.push_back({.name = cases[i].micro_kernel,
                                             .types = subject.types,
                                             .parameters = cases[i].parameters,
                                             .sizes = subject.sizes,
                                             .work = cases[i].work,
                                             .level = level.name});
            streamed_bytes.push_back(static_cast<double>(cases[i].constants_bytes));
            const int64_t copies = stride > 0 ? std::max<int64_t>(1, level.bytes / stride) : 1;
            samples.push_back(repeated(
                [&one, &constants, &own = memory[i], entry = code.entry(i), stride, copies,
                 next = int64_t{0}](int64_t calls) mutable {
                    return one.seconds([&](int64_t) {
                        for (int64_t call = 0; call < calls; ++call) {
                            const TesseraStep step = own.step(constants.of(0) + next * stride);
                            entry(&step);
                            next = (next + 1) % copies;
                        }
                    });
                },
                options.seconds * kShareOfSample));
        }
    }
    const std::vector<double> seconds = quartiles_in_turns(samples, options);
    // The second of two digits may be worth six per cent, by which one kernel is preferred to another.
    for (size_t i = 0; i < seconds.size(); ++i) {
        machine.micro_kernels[i].seconds = three_digits(seconds[i]);
        if (machine.micro_kernels[i].level == levels.back().name && levels.size() > 1)
            expect_bandwidth(machine.memory.back(), streamed_bytes[i] / seconds[i]);
    }
}

}  // namespace tessera::measure
