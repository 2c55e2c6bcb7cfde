// Within a phase nobody waits for anybody. So for each phase and each storage: if something writes it there,
// there must be one way of dividing the elements between the workers to which all accesses keep.
//
//   barrier  down      writes D in groups of 512 along axis 1
//            residual  reads D, writes H in groups of 512 along axis 1      one way: groups of 512
//   barrier  norm      reads H whole                                        no barrier: refused
#include "search/planner/verify_workers.h"

#include <algorithm>
#include <map>

#include "lowering/plan/parts.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using Accesses = std::vector<const movement::WorkerAccess*>;

/// Two accesses with no part in common, of which one writes; nothing if there are none.
struct Conflict {
    const movement::WorkerAccess* first = nullptr;
    const movement::WorkerAccess* second = nullptr;
};

Conflict conflict_between(const Accesses& accesses) {
    const auto writer = std::find_if(accesses.begin(), accesses.end(),
                                     [](const movement::WorkerAccess* access) { return access->is_write; });
    if (writer == accesses.end()) return {};
    // A division that suits the writer must suit everybody.
    const movement::WorkerAccess* misfit = *writer;
    for (const movement::WorkerPart& part : (*writer)->parts) {
        const auto other =
            std::find_if(accesses.begin(), accesses.end(), [&](const movement::WorkerAccess* access) {
                return std::find(access->parts.begin(), access->parts.end(), part) == access->parts.end();
            });
        if (other == accesses.end()) return {};
        misfit = *other;
    }
    return {*writer, misfit};
}

class WorkersVerifier {
public:
    WorkersVerifier(const plan::SpecialisationPlan& plan, const movement::Program& program,
                    const std::string& where)
        : plan_(plan), where_(where) {
        // A block that repeats is walked through twice: then its end has met its beginning.
        int64_t phase = 0;
        for (const movement::ProgramBlock& block : program.blocks) {
            for (int64_t repetition = 0; repetition < std::min<int64_t>(block.repeat, 2); ++repetition) {
                for (const movement::Kernel& kernel : block.kernels) {
                    phase += kernel.barrier;
                    add(kernel, phase, repetition == 0);
                }
            }
        }
    }

    void run() const {
        for (const auto& [phase, storages] : shared_) {
            for (const auto& [value, accesses] : storages) {
                const Conflict conflict = conflict_between(accesses);
                if (!conflict.first) continue;
                if (conflict.first == conflict.second) {
                    fail(value,
                         fmt::format("would be written by several workers, in {}", conflict.first->node),
                         "divide the kernel by an iterator of the result, let worker 0 compute it alone, or "
                         "place the result in an `arena of each worker`");
                }
                fail(value,
                     fmt::format("is written by {} for one worker and {} by {} for another, with no barrier "
                                 "between them",
                                 conflict.first->node, conflict.second->is_write ? "written" : "read",
                                 conflict.second->node),
                     "say `barrier = true` for a kernel between them");
            }
        }
        for (const auto& [value, accesses] : own_) check_own(value, accesses);
    }

private:
    void add(const movement::Kernel& kernel, int64_t phase, bool is_first) {
        for (const movement::WorkerAccess& access : kernel.accesses) {
            if (place_of(access.value) == plan::Place::kTile) continue;  // tiles are a worker's own
            if (!is_own(access.value)) {
                shared_[phase][access.value].push_back(&access);
            } else if (is_first) {
                own_[access.value].push_back(&access);
            }
        }
    }

    plan::Place place_of(const std::string& value) const {
        const auto at = plan_.tensors.find(value);
        return at == plan_.tensors.end() ? plan::Place::kGiven : at->second.place;
    }

    /// False for parts, although each worker has its own: the combination reads all of them.
    bool is_own(const std::string& value) const {
        const auto at = plan_.tensors.find(value);
        return at != plan_.tensors.end() && at->second.each_worker && !plan::whole_of(value);
    }

    /// Copies: every worker has computed what it reads if it computes all of it, or if it stays in its part.
    void check_own(const std::string& value, const Accesses& accesses) const {
        const bool are_whole = std::all_of(
            accesses.begin(), accesses.end(),
            [](const movement::WorkerAccess* access) { return !access->is_write || access->by_all; });
        if (are_whole) return;
        const Conflict conflict = conflict_between(accesses);
        if (!conflict.first) return;
        fail(value,
             fmt::format(
                 "is an own copy of each worker, but {} computes only its worker's part of what {} {}",
                 conflict.first->node, conflict.second->node, conflict.second->is_write ? "writes" : "reads"),
             "place it in the `arena` that all share");
    }

    [[noreturn]] void fail(const std::string& value, const std::string& problem,
                           const std::string& advice) const {
        throw Error(where_, value, problem, advice);
    }

    const plan::SpecialisationPlan& plan_;
    const std::string& where_;
    std::map<int64_t, std::map<std::string, Accesses>> shared_;  ///< by phase and storage
    std::map<std::string, Accesses> own_;
};

}  // namespace

void verify_workers(const plan::SpecialisationPlan& plan, const movement::Program& program,
                    const std::string& where) {
    if (program.workers > 1) WorkersVerifier(plan, program, where).run();
}

}  // namespace tessera::planner
