#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chip/partition/execute_step.h"
#include "import/import_model.h"

namespace tessera::partition {

/// The result of one step of a model on a chip.
struct ChipStep {
    std::vector<double> logits;  ///< behind the last token
    size_t operators = 0;
    double planned = 0;     ///< cycles by the plan
    double simulated = 0;   ///< cycles in the simulator
    int64_t sram_peak = 0;  ///< bytes of numbers on a core, at most
    /// The largest distance of a logit from the interpreter's, over their range; 0 if it is not asked for.
    double distance = 0;
};

/// One sequence of a model on a chip, step by step: each is planned, simulated and executed with the numbers
/// that the previous one has left in the HBM.
class ChipSession {
public:
    /// @param capacity tokens of the sequence, at most
    /// @param compares the interpreter computes every step, too
    /// @pre all outlive this
    ChipSession(const import::ImportedModel& model, const chip::ChipDescription& chip, std::string where,
                int64_t capacity, const chip::PlanOptions& options, bool compares);

    /// @throws Error as plan_step and execute_step
    ChipStep step(const std::vector<int64_t>& tokens);

private:
    GraphCall call_of(const std::vector<int64_t>& tokens) const;

    const import::ImportedModel& model_;
    const chip::ChipDescription& chip_;
    std::string where_;
    chip::PlanOptions options_;
    bool compares_;
    int64_t pages_;
    int64_t cached_ = 0;
    GraphStates states_;
};

}  // namespace tessera::partition
