#include "cli/search_again.h"

#include "compiler/api/artefact_machine.h"
#include "support/error.h"

namespace tessera::cli {

compiler::LayoutSearch search_again(const runtime::Artefact& artefact, const std::string& machine,
                                    std::string_view flag, int64_t effort, const Environment& environment) {
    if (effort == 0)
        throw Error("", "--search-effort", "is 0, with which nothing is searched",
                    "give the one of `tessera compile`", ErrorKind::kUsage);
    return compiler::repeat_layout_search(
        artefact, machine_for(artefact, machine, flag, environment.cache->root()), effort);
}

}  // namespace tessera::cli
