#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/definition.h"
#include "machine/machine.h"

/// What a micro-kernel is. Those that exist are declared in kernels/, one file each; whoever needs the list
/// of them gets it passed.
namespace tessera {

enum class ParameterKind : uint8_t {
    kNumber,
    kIterator,  ///< the name of an iterator of the operator
};

/// What a plan may say about a call of a micro-kernel. Parameters of one name mean the same wherever they
/// occur; their ranges are each micro-kernel's own.
struct Parameter {
    std::string_view name;
    std::string_view meaning;
    ParameterKind kind = ParameterKind::kNumber;
    bool is_required = false;  ///< has no default
    // Of a number:
    int64_t otherwise = 1;  ///< the default
    int64_t least = 1, most = 1;
    int64_t multiple_of = 1;
    bool is_power_of_two = false;
    bool is_stated = false;    ///< printed although it has its default: what a call is told apart by
    bool is_of_block = false;  ///< belongs to the register block, for which there are alternatives

    constexpr bool is_iterator() const { return kind == ParameterKind::kIterator; }
    /// What it is where it is not given; of a number that is required nothing in its range.
    constexpr int64_t default_number() const { return is_required ? 0 : otherwise; }
};

/// Why the parameter, a number, cannot have the value, as "is 65, expected a number from 1 to 64"; empty if
/// it can.
std::string why_out_of_range(const Parameter& parameter, int64_t value);

struct MicroKernel {
    std::string_view name;
    std::string_view summary;
    std::span<const Parameter> parameters;
    bool tiles_reductions = false;      ///< folds into what earlier tiles left, so a reduction loop may stand
                                        ///< outside
    bool combines_parts = false;        ///< reads what the workers have folded, not the operands
    UnitKind unit = UnitKind::kVector;  ///< that it is for; others emulate it
    std::span<const ElementType> results;  ///< types in which it stores; it reads every type, computes in f32
    /// Why it does not implement the definition; empty if it does.
    std::string (*why_not)(const Definition&);
};

/// All of them, in one order.
using MicroKernels = std::span<const MicroKernel* const>;

/// Null if there is none of this name.
const MicroKernel* find_micro_kernel(MicroKernels kernels, std::string_view name);

}  // namespace tessera
