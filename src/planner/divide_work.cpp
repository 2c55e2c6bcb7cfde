// The kernels in the order of execution; for each its options (division_options.h), with or without a barrier
// before it; the cheapest sequence by beam search. A state consists of the accesses since the last barrier
// and of the storages that each worker has a copy of, as far as later kernels touch them; the cheaper one of
// equal states goes on.
//
//   norm      by every worker, into copies        2 D iterations, no barrier
//   q, k, v   each its heads                      their products / workers
//   attention each its heads: reads what it wrote itself, no barrier
//   output    barrier; each a part of the columns
//
// For a long prompt each computes the norm of its rows, and they meet before q, k and v too.
//
// Where heads are few, an option of the attention is two kernels with a barrier between them: each folds a
// part of the cache, then all combine.
//
// No kernel is known by name: that heads stay with their worker from the projection to the attention is
// cheaper than a barrier, where they divide evenly enough.
#include "planner/divide_work.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "cost/weighted_sizes.h"
#include "lowering/numbered_nest.h"
#include "lowering/parts.h"
#include "ops/exchange.h"
#include "plan/parts.h"
#include "planner/division_options.h"
#include "planner/pending_accesses.h"
#include "planner/priced.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

constexpr size_t kBeam = 64;  // states with the same number of barriers in this block
/// Seconds of each barrier beyond the limit: more than any division saves.
constexpr double kForbidden = 1e9;

struct State {
    double cost = 0;
    PendingAccesses pending;
    std::map<std::string, bool> is_own;  ///< of the storages that were written so far and are used again
    std::vector<int> choices;            ///< 2 x option + barrier
    int64_t barriers = 0;                ///< in this block
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
            for (size_t k = 0; k < out.kernels.size(); ++k) {
                if (out.kernels[k].block != input.graph.blocks[b].name) continue;
                steps_.push_back(
                    {b,
                     k,
                     division_options(input, input.graph.blocks[b], out.kernels[k], priced, options),
                     {}});
                for (DivisionOption& option : steps_.back().options)
                    for (DividedKernel& divided : option.kernels)
                        std::erase_if(divided.accesses, [&](const auto& a) { return is_tile(a.value); });
            }
        }
        for (size_t s = steps_.size(); s-- > 0;) {
            if (s + 1 < steps_.size()) steps_[s].used = steps_[s + 1].used;
            for (const movement::WorkerAccess& access : steps_[s].options.front().kernels.front().accesses)
                steps_[s].used.insert(access.value);
        }
    }

    void run() {
        std::vector<State> states(1);
        for (size_t s = 0; s < steps_.size(); ++s) states = after(s, states);
        apply(states.front());
    }

private:
    struct Step {
        size_t block;
        size_t kernel;                        ///< in the plan's list
        std::vector<DivisionOption> options;  ///< without accesses to tiles, which are a worker's own
        std::set<std::string> used;           ///< by this kernel and later ones
    };

    /// Whether no other specialisation runs as often: where one token is computed, barriers are bounded.
    static bool runs_most(const lowering::LoweringInput& input) {
        const Point* heaviest = cost::heaviest_point(input.graph, input.specialisation);
        if (!heaviest) return true;
        const auto runs = cost::specialisation_at(input.plan, *heaviest);
        return runs && input.plan.specialisations[*runs].name == input.specialisation.name;
    }

    int64_t repeat(const Step& step) const { return input_.graph.blocks[step.block].repeat; }
    /// A block may be several layers, where these take turns in the types of their weights.
    int64_t most_barriers(const Step& step) const {
        if (!runs_most_) return std::numeric_limits<int64_t>::max();
        const auto states = static_cast<int64_t>(input_.graph.blocks[step.block].states.size());
        return options_.barriers_of_a_layer * std::max<int64_t>(1, states / 2);
    }

    static std::set<std::string> own(const State& state) {
        std::set<std::string> values;
        for (const auto& [value, is_own] : state.is_own) {
            if (is_own) values.insert(value);
        }
        return values;
    }

    std::vector<State> after(size_t s, const std::vector<State>& before) const {
        const Step& step = steps_[s];
        // The end of a repetition meets the beginning of the next one here, whatever it is.
        const bool must_meet = s > 0 && repeat(step) > 1 && steps_[s - 1].block != step.block;
        const bool begins_repeated = repeat(step) > 1 && (s == 0 || must_meet);
        std::map<std::string, State> best;
        for (const State& state : before) {
            for (size_t o = 0; o < step.options.size(); ++o) {
                for (const bool barrier : {false, true}) {
                    if (barrier ? s == 0 && !begins_repeated : begins_repeated) continue;
                    std::optional<State> next = with(state, step, o, barrier);
                    if (!next) continue;
                    const std::string key = key_of(*next);
                    const auto [at, is_new] = best.emplace(key, *next);
                    if (!is_new && order(*next) < order(at->second)) at->second = std::move(*next);
                }
            }
        }
        std::vector<State> states;
        for (auto& [key, state] : best) states.push_back(std::move(state));
        TESSERA_CHECK(!states.empty(), "no worker can compute {}",
                      plan::root(out_.kernels[step.kernel].nest).node);
        std::sort(states.begin(), states.end(),
                  [](const State& a, const State& b) { return order(a) < order(b); });
        // A state that has used many barriers is ahead for now; it must not displace the others from the
        // beam.
        std::map<int64_t, size_t> count;
        std::erase_if(states, [&](const State& state) { return ++count[state.barriers] > kBeam; });
        return states;
    }

    static std::tuple<double, const std::vector<int>&> order(const State& state) {
        return {state.cost, state.choices};
    }

    static std::string key_of(const State& state) {
        std::string key = fmt::format("{} {}|", state.barriers, state.pending.text());
        for (const std::string& value : own(state)) key += value + " ";
        return key;
    }

    std::optional<State> with(const State& before, const Step& step, size_t option, bool barrier) const {
        const DivisionOption& chosen = step.options[option];
        State state = before;
        const size_t s = state.choices.size();
        if (s > 0 && steps_[s - 1].block != step.block) state.barriers = 0;
        for (const DividedKernel& kernel : chosen.kernels) {
            if (barrier || &kernel != &chosen.kernels.front()) {
                state.pending.clear();
                state.cost += barrier_seconds_ * static_cast<double>(repeat(step));
                if (++state.barriers > most_barriers(step)) state.cost += kForbidden;
            }
            if (!add(kernel.accesses, state)) return std::nullopt;
        }
        state.cost += static_cast<double>(repeat(step)) * chosen.seconds;
        state.choices.push_back(static_cast<int>(2 * option + (barrier ? 1 : 0)));
        static const std::set<std::string> kNothing;
        const std::set<std::string>& used = s + 1 < steps_.size() ? steps_[s + 1].used : kNothing;
        state.pending.keep(used);
        std::erase_if(state.is_own, [&](const auto& storage) { return !used.contains(storage.first); });
        return state;
    }

    /// False if there may be a race, or if a storage would both be shared and have copies.
    bool add(const std::vector<movement::WorkerAccess>& accesses, State& state) const {
        for (const movement::WorkerAccess& access : accesses) {
            if (!access.is_write) continue;
            const bool wants_own = access.by_all;
            if (wants_own && !may_be_own(access.value)) return false;
            const auto [at, is_new] = state.is_own.emplace(access.value, wants_own);
            if (!is_new && at->second != wants_own) return false;
        }
        return state.pending.add(accesses, own(state));
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
        std::vector<SequencedKernel> sequence;
        std::set<std::string> own;
        std::vector<int64_t> repeats;
        for (const Block& block : input_.graph.blocks) repeats.push_back(block.repeat);
        for (size_t s = 0; s < steps_.size(); ++s) {
            for (const DividedKernel& kernel : chosen(state, s).kernels) {
                const bool is_first = &kernel == &chosen(state, s).kernels.front();
                sequence.push_back(
                    {steps_[s].block, !is_first || state.choices[s] % 2 == 1, kernel.accesses});
                for (const movement::WorkerAccess& access : sequence.back().accesses)
                    if (access.is_write && access.by_all) own.insert(access.value);
            }
        }
        remove_needless_barriers(sequence, repeats, own);
        std::map<size_t, std::vector<plan::KernelPlan>> replaced;  // by their place in the plan's list
        auto sequenced = sequence.begin();
        for (size_t s = 0; s < steps_.size(); ++s) {
            for (const DividedKernel& kernel : chosen(state, s).kernels) {
                plan::KernelPlan& plan = replaced[steps_[s].kernel].emplace_back(kernel.kernel);
                plan.barrier = (sequenced++)->barrier;
                place_parts(steps_[s].block, plan);
            }
        }
        out_.kernels.clear();
        for (const auto& [place, kernels] : replaced)
            out_.kernels.insert(out_.kernels.end(), kernels.begin(), kernels.end());
        for (const std::string& value : own) out_.tensors.at(value).each_worker = true;
    }

    const DivisionOption& chosen(const State& state, size_t s) const {
        return steps_[s].options[static_cast<size_t>(state.choices[s] / 2)];
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
};

}  // namespace

void divide_work(const lowering::LoweringInput& input, plan::SpecialisationPlan& out,
                 const PlannerOptions& options) {
    if (input.plan.workers > 1) WorkDivision(input, out, options).run();
}

}  // namespace tessera::planner
