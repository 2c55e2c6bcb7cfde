#include "run/llm/language_model.h"

#include <utility>

#include <sys/utsname.h>

#include "machine/host_memory.h"
#include "run/llm/memory_need.h"

namespace tessera::llm {
namespace {

std::unique_ptr<runtime::LoadedProgram> load(const std::shared_ptr<const runtime::Artefact>& artefact,
                                             const std::set<std::string>& features,
                                             const SessionOptions& options,
                                             const runtime::ProgramOptions& program) {
    utsname host{};
    uname(&host);
    artefact->check_host(host.machine, features);
    check_fits(artefact->manifest(), memory_need(*artefact, options), machine::host_memory_bytes());
    return std::make_unique<runtime::LoadedProgram>(
        artefact, Session::state_symbols(artefact->manifest(), options), program);
}

}  // namespace

LanguageModel::LanguageModel(std::shared_ptr<const runtime::Artefact> artefact,
                             const std::set<std::string>& features, const SessionOptions& options,
                             const runtime::ProgramOptions& program)
    : artefact_(std::move(artefact)),
      program_(load(artefact_, features, options, program)),
      session_(artefact_->manifest(), options,
               [loaded = program_.get()](auto symbols, auto inputs, auto outputs) {
                   loaded->run_step(symbols, inputs, outputs);
               }) {}

}  // namespace tessera::llm
