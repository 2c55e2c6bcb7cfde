#pragma once

#include <array>

#include "lowering/plan/micro_kernel.h"

namespace tessera::testing {

inline constexpr plan::Parameter kToyLanes{
    .name = "lanes", .meaning = "of a vector", .most = 64, .is_power_of_two = true};
inline constexpr plan::Parameter kToyRows{
    .name = "rows", .meaning = "of a block", .most = 12, .is_stated = true};
inline constexpr plan::Parameter kToyAhead{
    .name = "ahead", .meaning = "in steps of 8", .otherwise = 0, .least = 0, .most = 64, .multiple_of = 8};
inline constexpr plan::Parameter kToyX{
    .name = "x", .meaning = "of the lanes", .kind = plan::ParameterKind::kIterator};
inline constexpr plan::Parameter kToyK{
    .name = "k", .meaning = "of a sum", .kind = plan::ParameterKind::kIterator, .is_required = true};

inline constexpr std::array kOfLoops = {kToyX, kToyLanes};
inline constexpr std::array kOfSum = {kToyX, kToyK, kToyRows, kToyLanes, kToyAhead};

inline constexpr plan::MicroKernel kLoops{
    .name = "loops", .summary = "loops", .parameters = kOfLoops, .why_not = nullptr};
inline constexpr plan::MicroKernel kSum{
    .name = "sum", .summary = "sums", .parameters = kOfSum, .why_not = nullptr};

/// Micro-kernels that there are in tests of the document only: they compute nothing.
inline constexpr std::array kToyKernels = {&kLoops, &kSum};

}  // namespace tessera::testing
