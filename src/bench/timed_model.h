#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "llm/language_model.h"
#include "tessera/bench.h"

namespace tessera {

/// A model with one sequence whose steps are timed, and the graph that says what they have to do.
class TimedModel {
public:
    /// @throws Error as LanguageModel does, and if the artefact holds no graph.
    TimedModel(std::shared_ptr<const Artefact> artefact, const std::set<std::string>& features,
               const SessionOptions& options);

    int64_t workers() const { return model_.program().workers(); }

    /// Makes the sequence as long as `depth`. Its keys and values are made up: what a step costs depends on
    /// how many there are, not on what they are.
    void fill_to(int64_t depth);
    /// Adds so many tokens, in as few steps as may be or in one each; they are forgotten again.
    /// @return seconds from the first token to the last logits
    double time(BenchCase::Kind kind, int64_t tokens);
    /// Of all tokens of such a run together, at the present depth.
    StepWork work(BenchCase::Kind kind, int64_t tokens) const;

private:
    void add(int64_t tokens);
    StepWork work_of_step(int64_t start, int64_t tokens) const;

    LanguageModel model_;
    Graph graph_;
    SequenceId sequence_;
    std::vector<int32_t> tokens_;  ///< of any step
};

}  // namespace tessera
