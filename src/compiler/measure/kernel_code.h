#pragma once

#include <span>
#include <vector>

#include "compiler/measure/kernel_cases.h"
#include "compiler/measure/options.h"
#include "run/runtime/shared_library.h"
#include "tessera/step.h"

namespace tessera::measure {

/// The machine code of all cases.
class KernelCode {
public:
    /// @throws Error as compile_shared_object
    KernelCode(std::span<const KernelCase> cases, const machine::Machine& machine,
               const MeasureOptions& options);

    TesseraStepFunction entry(size_t of_case) const { return entries_[of_case]; }

private:
    runtime::SharedLibrary library_;
    std::vector<TesseraStepFunction> entries_;
};

}  // namespace tessera::measure
