#include "cli/search_again.h"

#include "compiler/api/artefact_machine.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

machine::Machine machine_of_search(const runtime::Artefact& artefact, const std::string& machine,
                                   std::string_view flag, int64_t effort, const Environment& environment) {
    if (effort == 0)
        throw Error("", "--search-effort", "is 0, with which nothing is searched",
                    "give the one of `tessera compile`", ErrorKind::kUsage);
    return machine_for(artefact, machine, flag, environment.cache->root());
}

}  // namespace

compiler::LayoutSearch search_layouts_again(const runtime::Artefact& artefact, const std::string& machine,
                                            std::string_view flag, int64_t effort,
                                            const Environment& environment) {
    return compiler::repeat_layout_search(
        artefact, machine_of_search(artefact, machine, flag, effort, environment), effort);
}

compiler::KernelSearch search_kernels_again(const runtime::Artefact& artefact, const std::string& machine,
                                            std::string_view flag, int64_t effort,
                                            const Environment& environment) {
    return compiler::repeat_kernel_search(
        artefact, machine_of_search(artefact, machine, flag, effort, environment), effort);
}

}  // namespace tessera::cli
