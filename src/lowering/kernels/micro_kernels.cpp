#include "lowering/kernels/micro_kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/error.h"

namespace tessera::kernels {

extern const plan::MicroKernel kStreamTiles, kStream, kContractBlockTiles, kContractBlocks, kContractTiles,
    kContract, kDot, kChunk, kLoops, kCombine;

namespace {

/// In the order of preference among candidates that are otherwise preferred alike (candidates.h).
constexpr std::array kMicroKernels = {&kStreamTiles,
                                      &kStream,
                                      &kContractBlockTiles,
                                      &kContractBlocks,
                                      &kContractTiles,
                                      &kContract,
                                      &kDot,
                                      &kChunk,
                                      &kLoops,
                                      &kCombine};

const plan::MicroKernel& only(bool plan::MicroKernel::*fact) {
    const auto at = std::find_if(kMicroKernels.begin(), kMicroKernels.end(),
                                 [&](const plan::MicroKernel* kernel) { return kernel->*fact; });
    TESSERA_CHECK(at != kMicroKernels.end());
    return **at;
}

}  // namespace

plan::MicroKernels micro_kernels() {
    return kMicroKernels;
}

const plan::MicroKernel* find_micro_kernel(std::string_view name) {
    return plan::find_micro_kernel(micro_kernels(), name);
}

const plan::MicroKernel& plain_micro_kernel() {
    return only(&plan::MicroKernel::is_plain);
}

const plan::MicroKernel& combining_micro_kernel() {
    return only(&plan::MicroKernel::combines_parts);
}

std::span<const movement::CallKind* const> call_kinds() {
    static const std::vector<const movement::CallKind*> kinds = [] {
        std::vector<const movement::CallKind*> found;
        for (const plan::MicroKernel* kernel : kMicroKernels)
            if (kernel->call) found.push_back(&kernel->call());
        return found;
    }();
    return kinds;
}

const Spellings& spellings() {
    static const Spellings spellings = [] {
        Spellings found;
        for (const plan::MicroKernel* kernel : kMicroKernels)
            if (kernel->spell) found.emplace(&kernel->call(), kernel->spell);
        return found;
    }();
    return spellings;
}

}  // namespace tessera::kernels
