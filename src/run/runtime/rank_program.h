#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "run/runtime/artefact.h"
#include "run/runtime/barrier.h"
#include "run/runtime/memory.h"
#include "run/runtime/shared_library.h"
#include "run/runtime/step_marks.h"
#include "tessera/step.h"

namespace tessera::runtime {

/// The part of a loaded program that one rank has: its code, its states and its buffers. A program for one
/// process is one rank with all of the model.
class RankProgram {
public:
    /// @param symbols of the states, as the manifest's symbols; -1 if no state depends on it
    /// @param spins polls of a worker that waits for the others of this rank
    /// @throws Error if the code cannot be loaded, lacks an entry, or a state does not fit into memory
    RankProgram(const Artefact& artefact, std::span<const int64_t> symbols, int64_t spins);

    /// @throws Error if the code has no marks
    void resolve_marked_entries();

    /// The step as this rank computes it; `outputs` are its own. Both must live as long as the step runs.
    TesseraStep step(std::span<const int64_t> symbols, std::span<const void* const> inputs,
                     std::span<void* const> outputs, Communicator* ranks);
    /// Memory of this rank alone, for an output that is not read.
    void* unread_output(size_t index, int64_t bytes);

    /// Called by all workers of the rank. `marks` may be null.
    void run(size_t specialisation, const TesseraStep& step, int64_t worker, StepMarks* marks) const noexcept;

    std::span<std::byte> state(size_t index) { return states_[index].bytes(); }
    std::span<const std::byte> state(size_t index) const { return states_[index].bytes(); }
    size_t states() const { return states_.size(); }
    int64_t state_bytes() const;
    int64_t arena_bytes() const { return static_cast<int64_t>(arena_.bytes().size()); }
    void reset();

    int64_t barriers() const { return barrier_.rounds(); }

private:
    void allocate_states(std::span<const int64_t> symbols);

    const Artefact& artefact_;
    SharedLibrary library_;
    std::vector<TesseraStepFunction> entries_;               ///< as the manifest's specialisations
    std::vector<TesseraMarkedStepFunction> marked_entries_;  ///< likewise; empty while steps are not marked
    std::vector<AnonymousMemory> states_;
    std::vector<unsigned char*> state_addresses_;
    AnonymousMemory arena_;                     ///< of the largest specialisation
    Barrier barrier_;                           ///< of the workers of this rank
    std::map<size_t, AnonymousMemory> unread_;  ///< by output
};

}  // namespace tessera::runtime
