#pragma once

#include <memory>
#include <set>
#include <string>

#include "run/llm/session.h"
#include "run/runtime/artefact.h"
#include "run/runtime/program.h"

namespace tessera::llm {

/// A compiled language model, ready to run: artefact, loaded code with its cache, and sequences over it.
class LanguageModel {
public:
    /// @throws Error if the artefact holds no language model, was made for another machine (`features`: those
    /// of this CPU, machine/probe.h), does not allow the options, or needs more memory than there is
    /// (run/llm/memory_need.h).
    LanguageModel(std::shared_ptr<const runtime::Artefact> artefact, const std::set<std::string>& features,
                  const SessionOptions& options, const runtime::ProgramOptions& program = {});

    const runtime::Artefact& artefact() const { return *artefact_; }
    Session& session() { return session_; }
    const Session& session() const { return session_; }
    runtime::LoadedProgram& program() { return *program_; }
    const runtime::LoadedProgram& program() const { return *program_; }
    /// Cache and intermediate buffers.
    int64_t memory_bytes() const { return program_->state_bytes() + program_->arena_bytes(); }

private:
    std::shared_ptr<const runtime::Artefact> artefact_;
    std::unique_ptr<runtime::LoadedProgram> program_;
    Session session_;
};

}  // namespace tessera::llm
