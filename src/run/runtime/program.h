#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "run/runtime/artefact.h"
#include "run/runtime/rank_group.h"
#include "run/runtime/rank_program.h"
#include "run/runtime/step_marks.h"
#include "run/runtime/workers.h"

namespace tessera::runtime {

struct ProgramOptions {
    bool pin = true;  ///< every worker to a processor of its own, if there are enough
    /// Computes every step with the last specialisation, which has the bounds of the graph. Specialisations
    /// may round differently; within one, the rows of a token do not depend on the other tokens of its step.
    bool one_specialisation = false;
};

/// The code of an artefact, loaded, with state of its own. Not to be called by two threads at once; several
/// programs may share one artefact.
/// The threads of all workers of all ranks of this process start here and end with the program. The thread
/// that runs a step is one of them, and is pinned during the step.
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

    /// The marks of the steps that `run` makes (run/runtime/step_marks.h), of each rank of this process.
    /// @throws Error if the code has no marks, as that of older artefacts
    std::vector<StepMarks> marked(const std::function<void()>& run);

    /// Sets all states to zero, as at the beginning.
    void reset();

    const Manifest& manifest() const { return artefact_->manifest(); }
    /// One state with its repetitions, in the manifest's order. @param rank of this process
    std::span<const std::byte> state(size_t index, size_t rank = 0) const {
        return ranks_[rank].state(index);
    }
    std::span<std::byte> state(size_t index, size_t rank = 0) { return ranks_[rank].state(index); }
    int64_t state_bytes() const;
    int64_t arena_bytes() const;

    int64_t workers() const { return manifest().workers; }  ///< of each rank
    size_t ranks() const { return ranks_.size(); }          ///< of this process
    /// True if some workers share a processor: the program computes the same, slowly.
    bool lacks_processors() const { return lacks_processors_; }
    int64_t steps() const { return steps_; }
    /// Times that the workers of a rank have met within steps, since the beginning.
    int64_t barriers() const { return ranks_.front().barriers(); }
    /// Times that the ranks have exchanged parts, since the beginning.
    int64_t exchanges() const { return group_ ? group_->rank(0).exchanges() : 0; }

private:
    /// The number of polls by a waiting thread before it sleeps (WorkerOptions::spins).
    int64_t start_threads(const ProgramOptions& options);
    /// Every rank reads its own weights: they lie on its processor's node, unless another read them first.
    void fetch_weights();
    void set_state_symbols(const std::map<std::string, int64_t>& state_symbols);
    void check_symbols(std::span<const int64_t> symbols) const;
    size_t specialisation_for(std::span<const int64_t> symbols) const;

    std::shared_ptr<const Artefact> artefact_;
    std::span<StepMarks> marks_;          ///< of each rank; empty: steps are not marked
    std::vector<int64_t> state_symbols_;  ///< as the manifest's symbols; -1 if no state depends on it
    std::deque<RankProgram> ranks_;
    std::vector<bool> shares_output_;   ///< whether all ranks place their parts in it
    std::unique_ptr<RankGroup> group_;  ///< null if there is one rank of all
    bool lacks_processors_ = false;
    size_t first_specialisation_ = 0;  ///< those before it are not called
    int64_t steps_ = 0;
    std::unique_ptr<WorkerTeam> team_;  ///< null if the caller is the only thread; ends before the members
                                        ///< that it uses
};

}  // namespace tessera::runtime
