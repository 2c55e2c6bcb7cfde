#include "compiler/measure/kernel_code.h"

#include "backend/backend.h"
#include "backend/cpp/emit.h"
#include "compiler/measure/probe_code.h"

namespace tessera::measure {
namespace {

std::vector<movement::Program> case_programs(std::span<const KernelCase> cases) {
    std::vector<movement::Program> programs;
    for (const KernelCase& each : cases) programs.push_back(each.program);
    return programs;
}

}  // namespace

KernelCode::KernelCode(std::span<const KernelCase> cases, const machine::Machine& machine,
                       const MeasureOptions& options)
    : library_(compile_probe(backend::cpp::emit("micro-kernels", case_programs(cases)), machine, options),
               "the micro-kernels") {
    for (const KernelCase& each : cases)
        entries_.push_back(library_.function<TesseraStepFunction>(backend::entry_name(each.program)));
}

}  // namespace tessera::measure
