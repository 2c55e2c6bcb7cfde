#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/artefact.h"
#include "runtime/memory.h"
#include "runtime/shared_library.h"
#include "runtime/step_marks.h"
#include "runtime/workers.h"
#include "tessera/step.h"

namespace tessera::runtime {

struct ProgramOptions {
    bool pin = true;  ///< every worker to a processor of its own, if there are enough
    /// Computes every step with the last specialisation, which has the bounds of the graph. Specialisations
    /// may round differently; within one, the rows of a token do not depend on the other tokens of its step.
    bool one_specialisation = false;
};

/// The code of an artefact, loaded, with state of its own. Not to be called by two threads at once; several
/// programs may share one artefact.
/// Where the code is for several workers, their threads start here and end with the program; the thread that
/// runs a step is one of them, and is pinned too as long as it does.
class LoadedProgram {
public:
    /// Loads the code and allocates the states, all zero. `state_symbols` gives a value to every symbol in
    /// the shape of a state (the number of pages of a cache); steps must then use the same values.
    /// @throws Error if the code cannot be loaded, lacks an entry, or a state does not fit into memory.
    LoadedProgram(std::shared_ptr<const Artefact> artefact,
                  const std::map<std::string, int64_t>& state_symbols, const ProgramOptions& options = {});

    /// Calls the first specialisation whose bounds hold. `symbols`, `inputs` and `outputs` in the manifest's
    /// order; tensors are row-major and their sizes those of the manifest at these symbols.
    /// @throws Error naming the symbol or tensor that does not fit; then nothing has been called.
    void run_step(std::span<const int64_t> symbols, std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs);

    /// The steps from here on are marked (runtime/step_marks.h), or no longer if it is null. It must live as
    /// long. @throws Error if the code has no marks, as that of older artefacts
    void mark_steps(StepMarks* marks);

    /// All states as they were at the beginning.
    void reset();

    const Manifest& manifest() const { return artefact_->manifest(); }
    /// One state with its repetitions, in the manifest's order.
    std::span<const std::byte> state(size_t index) const { return states_[index].bytes(); }
    std::span<std::byte> state(size_t index) { return states_[index].bytes(); }
    int64_t state_bytes() const;
    int64_t arena_bytes() const { return static_cast<int64_t>(arena_.bytes().size()); }

    int64_t workers() const { return manifest().workers; }
    /// Whether some workers share a processor: the program computes the same, slowly.
    bool lacks_processors() const { return lacks_processors_; }
    int64_t steps() const { return steps_; }
    /// Times that the workers have met within steps, since the beginning.
    int64_t barriers() const { return team_ ? team_->barriers() : 0; }

private:
    void resolve_entries();
    void start_workers(const ProgramOptions& options);
    void allocate_states(const std::map<std::string, int64_t>& state_symbols);
    void check_symbols(std::span<const int64_t> symbols) const;
    size_t specialisation_for(std::span<const int64_t> symbols) const;

    std::shared_ptr<const Artefact> artefact_;
    SharedLibrary library_;
    std::vector<TesseraStepFunction> entries_;               ///< as the manifest's specialisations
    std::vector<TesseraMarkedStepFunction> marked_entries_;  ///< likewise; empty while steps are not marked
    StepMarks* marks_ = nullptr;
    std::vector<int64_t> state_symbols_;  ///< as the manifest's symbols; -1 where no state depends on it
    std::vector<AnonymousMemory> states_;
    std::vector<unsigned char*> state_addresses_;
    AnonymousMemory arena_;  ///< of the largest specialisation
    bool lacks_processors_ = false;
    size_t first_specialisation_ = 0;  ///< those before it are not called
    int64_t steps_ = 0;
    std::unique_ptr<WorkerTeam> team_;  ///< null if the caller is the only worker; ends before the members
                                        ///< that it uses
};

}  // namespace tessera::runtime
