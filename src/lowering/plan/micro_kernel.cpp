#include "lowering/plan/micro_kernel.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::plan {

std::string why_out_of_range(const Parameter& parameter, int64_t value) {
    if (value < parameter.least || value > parameter.most)
        return fmt::format("is {}, expected a number from {} to {}", value, parameter.least, parameter.most);
    if (parameter.is_power_of_two && (value & (value - 1)) != 0)
        return fmt::format("is {}, expected a power of two", value);
    if (value % parameter.multiple_of != 0)
        return fmt::format("is {}, expected a multiple of {}", value, parameter.multiple_of);
    return {};
}

bool MicroKernel::has(const Parameter& parameter) const {
    return std::ranges::any_of(parameters, [&](const Parameter& own) { return own.name == parameter.name; });
}

const MicroKernel* find_micro_kernel(MicroKernels kernels, std::string_view name) {
    const auto at =
        std::find_if(kernels.begin(), kernels.end(), [&](const MicroKernel* k) { return k->name == name; });
    return at == kernels.end() ? nullptr : *at;
}

}  // namespace tessera::plan
