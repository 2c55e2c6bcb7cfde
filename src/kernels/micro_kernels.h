#pragma once

#include <string_view>

#include "plan/micro_kernel.h"

/// The micro-kernels that exist: the only list of them. A declaration says which definitions a kernel
/// implements, by their structure and never by their name, and which parameters a plan may give it.
namespace tessera {

MicroKernels micro_kernels();
/// Null if there is none of this name.
const MicroKernel* find_micro_kernel(std::string_view name);

}  // namespace tessera
