#pragma once

#include <cstdint>
#include <vector>

#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "ir/graph_interpreter.h"

namespace tessera::testing {

/// Feeds a sequence to an imported model by the interpreter, chunk by chunk, as the run time does: pages are
/// handed out in an order of the test's own, so that a mistake of the page table shows.
class InterpretedSession {
public:
    /// `capacity`: tokens that the cache holds.
    InterpretedSession(const import::ImportedModel& model, int64_t capacity);

    /// The logits after each of these tokens, [tokens, vocabulary].
    std::vector<double> step(const std::vector<int64_t>& tokens);
    /// The source of the text that the next steps have. @pre the first step
    void read_source(const std::vector<int64_t>& tokens);
    /// The same of numbers in the place of tokens: rows one after the other.
    void read_features(const std::vector<double>& rows);

private:
    int64_t page_of(int64_t index) const { return (index * 5 + 2) % pages_; }

    const import::ImportedModel& model_;
    Graph graph_;
    int64_t pages_;
    int64_t cached_ = 0;
    int64_t split_ = 0;  ///< tokens of the source
    GraphStates states_;
    TensorData features_;  ///< of the step, where the model has them
};

/// The distance of an imported model from plain loops, over two chunks, of which the second reads the cache
/// of the first.
double distance_from_loops(const import::ImportedModel& model, const RandomDecoder& decoder);

/// The largest |a - b| over (max - min) of the expected values.
double distance_of_range(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace tessera::testing
