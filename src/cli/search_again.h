#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "compiler/kernel_search.h"
#include "compiler/layout_search.h"

/// Searches of compiling, repeated for an artefact: for the machine of the file or else its own one
/// (compiler/api/artefact_machine.h). They throw an Error of wrong usage, on the flag, for an effort of 0.
namespace tessera::cli {

compiler::LayoutSearch search_layouts_again(const runtime::Artefact& artefact, const std::string& machine,
                                            std::string_view flag, int64_t effort,
                                            const Environment& environment);
compiler::KernelSearch search_kernels_again(const runtime::Artefact& artefact, const std::string& machine,
                                            std::string_view flag, int64_t effort,
                                            const Environment& environment);

}  // namespace tessera::cli
