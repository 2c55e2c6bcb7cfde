#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "lowering/plan/stated_kernels.h"

/// The measurements of `tessera tune`, an input of `tessera compile --tuning` (docs/schedule.md).
namespace tessera::planner {

/// Kernels for some operators of a block, as measured.
struct MeasuredChoice {
    std::vector<std::string> nests;  ///< in the order of execution, undivided
    double estimated_seconds = 0;
    double seconds = 0;       ///< of a call, by the weights of the specialisation's points
    bool is_planned = false;  ///< what the search takes without measurements
};

/// The operators of one kernel of a plan, and the choices for them that were measured.
struct TunedKernel {
    std::string machine;  ///< digest of its description, rates included
    std::string kernel;   ///< kernel_digest
    std::string specialisation;
    std::set<std::string> operators;
    std::vector<MeasuredChoice> choices;  ///< the one that is used comes first
};
using TuningLog = std::vector<TunedKernel>;

/// JSON, limited in size. @throws Error with the place of what is wrong
TuningLog parse_tuning_log(std::string_view text, const std::string& where);
/// parse_tuning_log(print(log)) equals log.
std::string print(const TuningLog& log);

/// Equal for operators of the same names, definitions and operands under the same bounds and workers.
/// @pre they are of one block of the graph
std::string kernel_digest(const Graph& graph, const plan::Plan& plan,
                          const plan::SpecialisationPlan& specialisation,
                          const std::set<std::string>& operators);

/// The entries of the log that were measured on this machine, of kernels of this plan.
struct UsedTuning {
    std::vector<plan::StatedKernel> kernels;
    size_t of_other_machines = 0, of_other_kernels = 0;  ///< entries that are left out
};
/// @throws Error if a nest of an entry that is used cannot be read
UsedTuning used_tuning(const TuningLog& log, const std::string& where, const std::string& machine,
                       const Graph& graph, const plan::Plan& plan, plan::MicroKernels kernels);

}  // namespace tessera::planner
