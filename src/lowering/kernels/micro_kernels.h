#pragma once

#include <map>
#include <span>
#include <string_view>

#include "lowering/plan/micro_kernel.h"

/// The micro-kernels that exist: the only list of them. Each is declared in a file of this folder that has
/// its name: which definitions it implements, by their structure and never by their name, which parameters a
/// plan may give it, how they are chosen, and how an operator becomes its call.
namespace tessera::kernels {

plan::MicroKernels micro_kernels();
/// Null if there is none of this name.
const plan::MicroKernel* find_micro_kernel(std::string_view name);

/// The one that implements every operator.
const plan::MicroKernel& plain_micro_kernel();
/// The one that combines the parts that the workers have folded.
const plan::MicroKernel& combining_micro_kernel();

/// The kinds of their calls, which parse_program needs.
std::span<const movement::CallKind* const> call_kinds();

/// How calls are written in C++ over NTT, by their kind; those of other kinds as their meaning says.
using Spellings = std::map<const movement::CallKind*, void (*)(const movement::Call& call, CallText& out)>;
/// Those that the micro-kernels declare.
const Spellings& spellings();

}  // namespace tessera::kernels
