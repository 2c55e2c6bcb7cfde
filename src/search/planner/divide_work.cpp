// A beam search for the cheapest sequence of decisions: kernels in the order of execution, each with one of
// its options (division_options.h), with or without a barrier before it. A state consists of the accesses
// since the last barrier and of the storages that each worker has a copy of, as far as later kernels touch
// them; the cheaper one of equal states goes on.
//
//   norm      by every worker, into copies        2 D iterations, no barrier
//   q, k, v   each its heads                      their products / workers
//   attention each its heads: reads what it wrote itself, no barrier
//   output    barrier; each a part of the columns
//
// For a long prompt each computes the norm of its rows, and they meet before q, k and v too.
//
// If heads are few, an option of the attention is two kernels with a barrier between them: each folds a part
// of the cache, then all combine.
//
// No kernel is known by name: heads stay with their worker from the projection to the attention because that
// is cheaper than a barrier, if they divide evenly enough.
#include "search/planner/divide_work.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "cost/weighted_sizes.h"
#include "ir/ops/exchange.h"
#include "lowering/numbered_nest.h"
#include "lowering/parts.h"
#include "lowering/plan/parts.h"
#include "search/planner/division_options.h"
#include "search/planner/pending_accesses.h"
#include "search/planner/priced.h"
#include "support/error.h"
#include "support/hash_vector.h"

namespace tessera::planner {
namespace {

constexpr size_t kBeam = 64;      // states with the same number of barriers in this block
constexpr size_t kStates = 1024;  // in all
/// Seconds of each barrier beyond the limit: more than any division saves.
constexpr double kForbidden = 1e9;

/// A sequence of decisions, the last one first.
struct Decision {
    int before;  ///< in the list of decisions; -1: none
    int choice;  ///< 2 x option + barrier
};

struct State {
    double cost = 0;
    PendingAccesses pending;
    std::vector<std::pair<int, bool>>
        is_own;            ///< of the storages that were written so far and are used again
    int64_t barriers = 0;  ///< in this block
    int decision = -1;     ///< the last one
    /// Among states of one step: where the sequence of choices stands in lexicographic order.
    std::pair<int, int> rank = {0, 0};  ///< that of the state before, and the last choice
};

class WorkDivision {
public:
    WorkDivision(const lowering::LoweringInput& input, plan::SpecialisationPlan& out,
                 const PlannerOptions& options)
        : input_(input), out_(out), options_(options), runs_most_(runs_most(input)) {
        for (size_t b = 0; b < input.graph.blocks.size(); ++b) {
            for (const Node& node : input.graph.blocks[b].nodes)
                if (ops::is_exchange(*node.definition()))
                    exchanged_.insert(input.graph[node.results.front()].name);
            cost::PricedBlock priced = priced_block(input, input.graph.blocks[b], options);
            barrier_seconds_ = priced.evaluator.barrier_seconds();
            const std::set<int64_t> extents = known_extents(input, input.graph.blocks[b]);
            for (size_t k = 0; k < out.kernels.size(); ++k) {
                if (out.kernels[k].block != input.graph.blocks[b].name) continue;
                steps_.push_back(
                    {b,
                     k,
                     division_options(input, input.graph.blocks[b], out.kernels[k], extents, priced, options),
                     {}});
                for (DivisionOption& option : steps_.back().options) {
                    std::vector<Accesses>& accesses = steps_.back().accesses.emplace_back();
                    for (DividedKernel& divided : option.kernels) {
                        std::erase_if(divided.accesses, [&](const auto& a) { return is_tile(a.value); });
                        accesses.push_back(numbers_.of(divided.accesses));
                    }
                }
            }
        }
        last_use_.resize(numbers_.storages(), 0);
        for (size_t s = 0; s < steps_.size(); ++s)
            for (const NumberedAccess& access : steps_[s].accesses.front().front())
                last_use_[static_cast<size_t>(access.storage)] = s;
        for (size_t storage = 0; storage < numbers_.storages(); ++storage)
            may_be_own_.push_back(may_be_own(numbers_.value(static_cast<int>(storage))));
    }

    void run() {
        std::vector<State> states(1);
        for (size_t s = 0; s < steps_.size(); ++s) states = after(s, states);
        apply(states.front());
    }

private:
    using Accesses = std::vector<NumberedAccess>;
    struct Step {
        size_t block;
        size_t kernel;                                ///< in the plan's list
        std::vector<DivisionOption> options;          ///< without accesses to tiles, which are a worker's own
        std::vector<std::vector<Accesses>> accesses;  ///< by option and kernel
    };

    /// True if no other specialisation runs as often: barriers are bounded where one token is computed.
    static bool runs_most(const lowering::LoweringInput& input) {
        const Point* heaviest = cost::heaviest_point(input.graph, input.specialisation);
        if (!heaviest) return true;
        const auto runs = cost::specialisation_at(input.plan, *heaviest);
        return runs && input.plan.specialisations[*runs].name == input.specialisation.name;
    }

    int64_t repeat(const Step& step) const { return input_.graph.blocks[step.block].repeat; }
    /// A block may be several layers, if these take turns in the types of their weights. One without states
    /// is none, and may be a whole model.
    int64_t most_barriers(const Step& step) const {
        const auto states = static_cast<int64_t>(input_.graph.blocks[step.block].states.size());
        if (!runs_most_ || states == 0) return std::numeric_limits<int64_t>::max();
        return options_.barriers_of_a_layer * std::max<int64_t>(1, states / 2);
    }

    static bool is_own(const State& state, int storage) {
        const auto at = std::ranges::lower_bound(state.is_own, storage, {}, &std::pair<int, bool>::first);
        return at != state.is_own.end() && at->first == storage && at->second;
    }

    std::vector<State> after(size_t s, const std::vector<State>& before) {
        const Step& step = steps_[s];
        // The end of a repetition meets the beginning of the next one here, whatever it is.
        const bool must_meet = s > 0 && repeat(step) > 1 && steps_[s - 1].block != step.block;
        const bool begins_repeated = repeat(step) > 1 && (s == 0 || must_meet);
        std::unordered_map<std::vector<int64_t>, State, HashVector> best;
        for (size_t b = 0; b < before.size(); ++b) {
            for (size_t o = 0; o < step.options.size(); ++o) {
                for (const bool barrier : {false, true}) {
                    if (barrier ? s == 0 && !begins_repeated : begins_repeated) continue;
                    std::optional<State> next = with(before[b], s, o, barrier);
                    if (!next) continue;
                    next->decision = static_cast<int>(b);
                    const auto [at, is_new] = best.emplace(key_of(*next), *next);
                    if (!is_new && order(*next) < order(at->second)) at->second = std::move(*next);
                }
            }
        }
        std::vector<State> states;
        for (auto& [key, state] : best) states.push_back(std::move(state));
        if (states.empty())
            throw Error(options_.machine, out_.kernels[step.kernel].nest.root().node,
                        "has no price: the machine's description has neither times of a micro-kernel that "
                        "computes it nor the peak of the unit",
                        "measure the machine again");
        std::ranges::sort(states, {}, order);
        // A state that has used many barriers is ahead for now; it must not displace the others from the
        // beam.
        std::map<int64_t, size_t> count;
        std::erase_if(states, [&](const State& state) { return ++count[state.barriers] > kBeam; });
        if (states.size() > kStates) states.resize(kStates);
        number_sequences(before, states);
        return states;
    }

    /// Notes the decisions, and where the sequences stand in their lexicographic order.
    void number_sequences(const std::vector<State>& before, std::vector<State>& states) {
        std::vector<State*> ascending;
        for (State& state : states) {
            decisions_.push_back({before[static_cast<size_t>(state.decision)].decision, state.rank.second});
            state.decision = static_cast<int>(decisions_.size()) - 1;
            ascending.push_back(&state);
        }
        std::ranges::sort(ascending, {}, &State::rank);
        for (size_t i = 0; i < ascending.size(); ++i) ascending[i]->rank = {static_cast<int>(i), 0};
    }

    /// If states cost the same, the one with the first sequence of choices goes on.
    static std::pair<double, std::pair<int, int>> order(const State& state) {
        return {state.cost, state.rank};
    }

    static std::vector<int64_t> key_of(const State& state) {
        std::vector<int64_t> key = {state.barriers};
        state.pending.append_to(key);
        key.push_back(-1);
        for (const auto& [storage, is_own] : state.is_own)
            if (is_own) key.push_back(storage);
        return key;
    }

    std::optional<State> with(const State& before, size_t s, size_t option, bool barrier) {
        const Step& step = steps_[s];
        State state{.cost = before.cost,
                    .pending = barrier ? PendingAccesses() : before.pending,
                    .is_own = before.is_own,
                    .barriers = before.barriers,
                    .decision = before.decision,
                    .rank = before.rank};
        if (s > 0 && steps_[s - 1].block != step.block) state.barriers = 0;
        for (size_t kernel = 0; kernel < step.accesses[option].size(); ++kernel) {
            if (barrier || kernel > 0) {
                state.pending.clear();
                state.cost += barrier_seconds_ * static_cast<double>(repeat(step));
                if (++state.barriers > most_barriers(step)) state.cost += kForbidden;
            }
            if (!add(step.accesses[option][kernel], state)) return std::nullopt;
        }
        state.cost += static_cast<double>(repeat(step)) * step.options[option].seconds;
        state.rank = {before.rank.first, static_cast<int>(2 * option + (barrier ? 1 : 0))};
        const auto is_used = [&](int storage) { return last_use_[static_cast<size_t>(storage)] > s; };
        state.pending.keep(is_used);
        std::erase_if(state.is_own, [&](const auto& storage) { return !is_used(storage.first); });
        return state;
    }

    /// False if there may be a race, or if a storage would both be shared and have copies.
    bool add(const Accesses& accesses, State& state) {
        for (const NumberedAccess& access : accesses) {
            if (!access.is_write) continue;
            const bool wants_own = access.by_all;
            if (wants_own && !may_be_own_[static_cast<size_t>(access.storage)]) return false;
            const auto at =
                std::ranges::lower_bound(state.is_own, access.storage, {}, &std::pair<int, bool>::first);
            if (at == state.is_own.end() || at->first != access.storage)
                state.is_own.emplace(at, access.storage, wants_own);
            else if (at->second != wants_own)
                return false;
        }
        return state.pending.add(accesses, numbers_, [&](int storage) { return is_own(state, storage); });
    }

    const plan::TensorPlan* tensor(const std::string& value) const {
        const auto at = out_.tensors.find(value);
        return at == out_.tensors.end() ? nullptr : &at->second;
    }
    bool is_tile(const std::string& value) const {
        return tensor(value) && tensor(value)->place == plan::Place::kTile;
    }
    bool may_be_own(const std::string& value) const {
        return tensor(value) && tensor(value)->place == plan::Place::kArena && !exchanged_.contains(value);
    }
    void apply(const State& state) {
        std::vector<int> choices;
        for (int at = state.decision; at >= 0; at = decisions_[static_cast<size_t>(at)].before)
            choices.push_back(decisions_[static_cast<size_t>(at)].choice);
        std::ranges::reverse(choices);
        std::vector<SequencedKernel> sequence;
        std::set<int> own;
        std::vector<int64_t> repeats;
        for (const Block& block : input_.graph.blocks) repeats.push_back(block.repeat);
        for (size_t s = 0; s < steps_.size(); ++s) {
            const std::vector<Accesses>& kernels = steps_[s].accesses[static_cast<size_t>(choices[s] / 2)];
            for (size_t kernel = 0; kernel < kernels.size(); ++kernel) {
                sequence.push_back({steps_[s].block, kernel > 0 || choices[s] % 2 == 1, kernels[kernel]});
                for (const NumberedAccess& access : kernels[kernel])
                    if (access.is_write && access.by_all) own.insert(access.storage);
            }
        }
        remove_needless_barriers(sequence, repeats, own, numbers_);
        std::map<size_t, std::vector<plan::KernelPlan>> replaced;  // by their place in the plan's list
        auto sequenced = sequence.begin();
        for (size_t s = 0; s < steps_.size(); ++s) {
            for (const DividedKernel& kernel :
                 steps_[s].options[static_cast<size_t>(choices[s] / 2)].kernels) {
                plan::KernelPlan& plan = replaced[steps_[s].kernel].emplace_back(kernel.kernel);
                plan.barrier = (sequenced++)->barrier;
                place_parts(steps_[s].block, plan);
            }
        }
        out_.kernels.clear();
        for (const auto& [place, kernels] : replaced)
            out_.kernels.insert(out_.kernels.end(), kernels.begin(), kernels.end());
        for (const int storage : own) out_.tensors.at(numbers_.value(storage)).each_worker = true;
    }

    void place_parts(size_t block, const plan::KernelPlan& kernel) {
        const Node* parted = lowering::parted_operator(kernel.nest, input_.graph.blocks[block]);
        for (const ValueId result : parted ? parted->results : std::vector<ValueId>{})
            out_.tensors[plan::parts_of(input_.graph[result].name)].each_worker = true;
    }

    const lowering::LoweringInput& input_;
    plan::SpecialisationPlan& out_;
    const PlannerOptions& options_;
    const bool runs_most_;
    double barrier_seconds_ = 0;
    std::set<std::string> exchanged_;  ///< values by which ranks meet: one for all workers of a rank
    std::vector<Step> steps_;
    AccessNumbers numbers_;
    std::vector<size_t> last_use_;     ///< by storage: the last step whose kernel touches it as it stands
    std::vector<bool> may_be_own_;     ///< by storage
    std::vector<Decision> decisions_;  ///< of all states
};

}  // namespace

void divide_work(const lowering::LoweringInput& input, plan::SpecialisationPlan& out,
                 const PlannerOptions& options) {
    if (input.plan.workers > 1) WorkDivision(input, out, options).run();
}

}  // namespace tessera::planner
