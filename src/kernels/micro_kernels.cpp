#include "kernels/micro_kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/error.h"

namespace tessera {

extern const MicroKernel kStreamTiles, kStream, kContractBlockTiles, kContractBlocks, kContractTiles,
    kContract, kDot, kLoops, kCombine;

namespace {

/// In the order of preference, where what they offer is preferred alike (candidates.h).
constexpr std::array kMicroKernels = {
    &kStreamTiles, &kStream, &kContractBlockTiles, &kContractBlocks, &kContractTiles, &kContract, &kDot,
    &kLoops,       &kCombine};

const MicroKernel& only(bool MicroKernel::*fact) {
    const auto at = std::find_if(kMicroKernels.begin(), kMicroKernels.end(),
                                 [&](const MicroKernel* kernel) { return kernel->*fact; });
    TESSERA_CHECK(at != kMicroKernels.end());
    return **at;
}

}  // namespace

MicroKernels micro_kernels() {
    return kMicroKernels;
}

const MicroKernel* find_micro_kernel(std::string_view name) {
    return find_micro_kernel(micro_kernels(), name);
}

const MicroKernel& plain_micro_kernel() {
    return only(&MicroKernel::is_plain);
}

const MicroKernel& combining_micro_kernel() {
    return only(&MicroKernel::combines_parts);
}

std::span<const CallKind* const> call_kinds() {
    static const std::vector<const CallKind*> kinds = [] {
        std::vector<const CallKind*> found;
        for (const MicroKernel* kernel : kMicroKernels)
            if (kernel->call) found.push_back(&kernel->call());
        return found;
    }();
    return kinds;
}

}  // namespace tessera
