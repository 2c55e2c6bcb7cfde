#include "measure/measure_machine.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "codegen/toolchain.h"
#include "measure/bandwidth.h"
#include "measure/barrier_cost.h"
#include "measure/kernel_cases.h"
#include "measure/kernel_times.h"
#include "measure/peaks.h"
#include "support/error.h"
#include "support/hash.h"

namespace tessera::measure {

MeasureOptions quick(MeasureOptions options) {
    options.samples = 3;
    options.seconds = 0.002;
    options.micro_kernels = false;
    return options;
}

machine::Machine measure_machine(machine::Machine machine, const MeasureOptions& options) {
    TESSERA_CHECK(options.samples >= 1 && options.seconds > 0);
    const auto stage = [&](const char* name, void (*measure)(machine::Machine&, const MeasureOptions&)) {
        if (options.on_stage) options.on_stage(name);
        measure(machine, options);
    };
    stage("latency", measure_latency);
    stage("bandwidth", measure_bandwidth);
    stage("barriers", measure_barriers);
    stage("compute units", measure_peaks);
    machine.micro_kernels.clear();
    if (options.micro_kernels) stage("micro-kernels", measure_micro_kernels);
    machine.measured_with = kernels_digest(machine, options);
    return machine;
}

std::string kernels_digest(const machine::Machine& machine, const MeasureOptions& options) {
    Hasher hasher;
    hasher.field(codegen::toolchain_digest({.compiler = machine.compiler,
                                            .isa = machine.isa,
                                            .include_directory = options.include_directory,
                                            .search_path = options.search_path}));
    const std::vector<KernelSubject> subjects = kernel_subjects(machine);
    for (const KernelCase& each : kernel_cases(subjects, machine)) {
        const KernelSubject& subject = subjects[each.subject];
        hasher.field(
            fmt::format("{} {} {} {}", each.micro_kernel, each.parameters, subject.types, subject.sizes));
    }
    return hasher.hex();
}

}  // namespace tessera::measure
