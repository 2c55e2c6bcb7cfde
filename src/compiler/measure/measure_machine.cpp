#include "compiler/measure/measure_machine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "backend/toolchain.h"
#include "compiler/measure/bandwidth.h"
#include "compiler/measure/barrier_cost.h"
#include "compiler/measure/kernel_cases.h"
#include "compiler/measure/kernel_times.h"
#include "compiler/measure/peaks.h"
#include "compiler/measure/probe_code.h"
#include "run/runtime/shared_library.h"
#include "support/error.h"
#include "support/hash.h"

namespace tessera::measure {

namespace {

using Clock = std::chrono::steady_clock;

using Measure = std::function<void(machine::Machine&, const MeasureOptions&)>;

struct Stage {
    const char* name;
    Measure measure;
    double share;  ///< of the time that this stage and those behind it have
};

/// Later stages get the time that earlier ones leave. The bandwidth decides most.
std::array<Stage, 4> stages(const runtime::SharedLibrary& probe) {
    const auto with_probe = [&probe](auto measure) -> Measure {
        return [&probe, measure](machine::Machine& machine, const MeasureOptions& options) {
            measure(machine, probe, options);
        };
    };
    return {{{"latency", measure_latency, 0.2},
             {"bandwidth", with_probe(measure_bandwidth), 0.6},
             {"barriers", measure_barriers, 0.2},
             {"compute units", with_probe(measure_peaks), 1}}};
}

Clock::duration seconds(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

MeasureOptions quick(MeasureOptions options) {
    options.samples = 3;
    options.seconds = 0.002;
    options.micro_kernels = false;
    options.most_bytes = int64_t{1} << 30;
    options.seconds_in_all = 4.5;  // a sample that has begun ends behind it
    return options;
}

machine::Machine measure_machine(machine::Machine machine, const MeasureOptions& options) {
    TESSERA_CHECK(options.samples >= 1 && options.seconds > 0);
    TESSERA_CHECK(options.seconds_in_all == 0 || !options.micro_kernels,
                  "a part of a table is worse than none");
    const Clock::time_point begin = Clock::now();
    if (options.on_stage) options.on_stage("(compiling its probes)");
    const runtime::SharedLibrary probe(compile_probe(roof_code(machine), machine, options),
                                       "the probe of the roofs");
    // A slow compiler leaves a third of the time.
    const Clock::time_point end =
        std::max(begin + seconds(options.seconds_in_all), Clock::now() + seconds(options.seconds_in_all / 3));
    const auto run = [&](const Stage& stage) {
        if (options.on_stage) options.on_stage(stage.name);
        MeasureOptions own = options;
        if (options.seconds_in_all > 0) {
            const Clock::time_point now = Clock::now();
            const auto stage_end =
                now + std::chrono::duration_cast<Clock::duration>((end - now) * stage.share);
            own.is_over = [stage_end] { return Clock::now() >= stage_end; };
        }
        stage.measure(machine, own);
    };
    for (const Stage& stage : stages(probe)) run(stage);
    machine.micro_kernels.clear();
    if (options.micro_kernels) run({"micro-kernels", measure_micro_kernels, 1});
    machine.measured_with = kernels_digest(machine, options);
    return machine;
}

std::string kernels_digest(const machine::Machine& machine, const MeasureOptions& options) {
    Hasher hasher;
    hasher.field(backend::toolchain_digest({.compiler = machine.compiler,
                                            .isa = machine.isa,
                                            .include_directory = options.include_directory,
                                            .search_path = options.search_path}));
    if (machine.micro_kernels.empty()) return hasher.hex();
    const std::vector<KernelSubject> subjects = kernel_subjects(machine);
    for (const KernelCase& each : kernel_cases(subjects, machine)) {
        const KernelSubject& subject = subjects[each.subject];
        hasher.field(
            fmt::format("{} {} {} {}", each.micro_kernel, each.parameters, subject.types, subject.sizes));
    }
    return hasher.hex();
}

}  // namespace tessera::measure
