#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "compiler/compiler.h"
#include "machine/machine.h"
#include "run/llm/compare_logits.h"

/// The model that ships with the project, compiled by plans that a test wrote.
namespace tessera::testing {

/// Tolerance as a share of the range of a row's logits. Sums in another order differ by 4e-7 to 9e-7 of it
/// (docs of `verify`); a wrong epsilon shows at 7e-6.
inline constexpr double kTolerance = 3e-6;
/// Barriers of a decoder's block that two workers compute together.
inline constexpr int64_t kBarriersOfABlock = 5;

std::filesystem::path shipped_model();
/// All bytes of a file that can be read.
std::string bytes_of(const std::filesystem::path& file);
/// The described machine of the smallest instruction set that this architecture has everywhere, so that plans
/// are the same on every host.
machine::Machine common_machine();

/// Settings for that machine and one worker, with this folder as the cache of compilations.
compiler::CompileOptions common_options(const std::filesystem::path& folder);

/// Compiles it through `--plan`'s way: the text goes to a file, the file to the compiler. Empty: the default
/// plan.
/// @returns the artefact. @throws Error for an illegal plan.
std::filesystem::path compile_with(const std::string& plan, const std::filesystem::path& folder,
                                   int64_t workers = 1);
/// The printed plan of one worker in which attention, the norms of heads and every product are kernels that
/// edits name, whatever the search would find.
std::string editable_plan_text(const std::filesystem::path& folder);

/// Logits of the shipped ids against the shipped reference, in steps of at most `chunk` tokens.
llm::LogitsComparison compared_with_reference(const std::filesystem::path& artefact, int64_t chunk);

}  // namespace tessera::testing
