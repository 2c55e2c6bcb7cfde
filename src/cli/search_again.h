#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "compiler/layout_search.h"

namespace tessera::cli {

/// Repeats the search for layouts of an artefact, for the machine of the file or else its own one
/// (compiler/api/artefact_machine.h). @throws Error, of wrong usage for an effort of 0.
compiler::LayoutSearch search_again(const runtime::Artefact& artefact, const std::string& machine,
                                    std::string_view flag, int64_t effort, const Environment& environment);

}  // namespace tessera::cli
