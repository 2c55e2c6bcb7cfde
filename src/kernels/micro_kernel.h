#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/definition.h"
#include "machine/machine.h"

/// Micro-kernel declarations: the only source of what exists. A declaration says which definitions a kernel
/// implements, by their structure and never by their name, and which parameters a plan may give it.
namespace tessera {

struct Parameter {
    std::string_view name;
    std::string_view meaning;
    bool is_iterator;  ///< names an iterator of the operator; else a positive integer
    bool is_required;
};

struct MicroKernel {
    std::string_view name;
    std::string_view summary;
    std::vector<Parameter> parameters;
    bool tiles_reductions;  ///< folds into what earlier tiles left, so a reduction loop may stand outside
    bool combines_parts = false;        ///< reads what the workers have folded, not the operands
    UnitKind unit = UnitKind::kVector;  ///< that it is for; others emulate it
    std::vector<ElementType> results;   ///< types in which it stores; it reads every type and computes in f32
    /// Why it does not implement the definition; empty if it does.
    std::string (*why_not)(const Definition&);
};

/// All declarations, in one list.
std::span<const MicroKernel> micro_kernels();
/// nullptr if there is none of this name.
const MicroKernel* find_micro_kernel(std::string_view name);

}  // namespace tessera
