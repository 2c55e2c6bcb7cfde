#include "measure/measure_machine.h"

#include "codegen/toolchain.h"
#include "measure/bandwidth.h"
#include "measure/barrier_cost.h"
#include "measure/kernel_times.h"
#include "measure/peaks.h"
#include "support/error.h"

namespace tessera {

Machine measure_machine(Machine machine, const MeasureOptions& options) {
    TESSERA_CHECK(options.samples >= 1 && options.seconds > 0);
    const auto stage = [&](const char* name, void (*measure)(Machine&, const MeasureOptions&)) {
        if (options.on_stage) options.on_stage(name);
        measure(machine, options);
    };
    stage("latency", measure_latency);
    stage("bandwidth", measure_bandwidth);
    stage("barriers", measure_barriers);
    stage("compute units", measure_peaks);
    stage("micro-kernels", measure_micro_kernels);
    machine.measured_with = kernels_digest(machine, options);
    return machine;
}

std::string kernels_digest(const Machine& machine, const MeasureOptions& options) {
    return toolchain_digest({.compiler = machine.compiler,
                             .isa = machine.isa,
                             .include_directory = options.include_directory,
                             .search_path = options.search_path});
}

}  // namespace tessera
