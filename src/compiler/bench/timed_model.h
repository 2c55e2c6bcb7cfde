#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/bench/step_predictor.h"
#include "ir/graph.h"
#include "run/llm/language_model.h"
#include "tessera/bench.h"

namespace tessera::benchmark {

/// A model with one sequence whose steps are timed, and the graph that gives their work.
class TimedModel {
public:
    /// @throws Error as LanguageModel does, and if the artefact holds no graph.
    TimedModel(std::shared_ptr<const runtime::Artefact> artefact, const std::set<std::string>& features,
               const llm::SessionOptions& options);

    int64_t threads() const {
        return static_cast<int64_t>(model_.program().ranks()) * model_.program().workers();
    }
    const runtime::Artefact& artefact() const { return model_.artefact(); }
    /// Read when it is first needed. @throws Error if the artefact holds no plan, or an illegal one
    const compiler::VerifiedPlan& plan();

    /// Makes the sequence as long as `depth`. Its keys and values are made up: the cost of a step depends on
    /// their number, not on their values.
    void fill_to(int64_t depth);
    /// Adds so many tokens, in as few steps as may be or in one each; they are forgotten again.
    /// @return seconds from the first token to the last logits
    double time(BenchCase::Kind kind, int64_t tokens);
    /// The same, by specialisation and kernel. @throws Error if the code has no marks
    std::vector<std::vector<runtime::KernelTime>> kernel_times(BenchCase::Kind kind, int64_t tokens);
    /// The work of all tokens of such a run together, at the present depth.
    StepWork work(BenchCase::Kind kind, int64_t tokens) const;
    /// Predictions for the steps of such a run.
    std::vector<StepPrediction> predictions(BenchCase::Kind kind, int64_t tokens,
                                            const StepPredictor& predictor) const;

private:
    void add(int64_t tokens);
    /// The input of a step of so many tokens behind others.
    struct Step {
        std::map<std::string, int64_t> symbols;
        std::map<std::string, std::vector<int32_t>> inputs;
    };
    Step step(int64_t start, int64_t tokens) const;
    /// Visits the steps of such a run at the present depth, in order.
    void for_each_step(BenchCase::Kind kind, int64_t tokens,
                       const std::function<void(const Step&)>& visit) const;

    llm::LanguageModel model_;
    Graph graph_;
    std::optional<compiler::VerifiedPlan> plan_;
    llm::SequenceId sequence_;
    std::vector<int32_t> tokens_;  ///< of any step
};

}  // namespace tessera::benchmark
