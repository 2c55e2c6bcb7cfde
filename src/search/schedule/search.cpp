// Selection by upper confidence bounds: the value of a state is the best structure below it, as the share of
// the unfused time that it saves. A state whose descendants have all been evaluated is not entered again.
#include "search/schedule/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "search/schedule/solved_kernels.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;

/// Weight of unvisited states. Savings are shares of the whole, mostly below a half.
constexpr double kExploration = 0.2;

/// Structures within this share of the best time are about equal: the one with the fewest actions is chosen.
constexpr double kWorthwhile = 0.999;

/// A note if a kernel's bytes take longer than its operations: phi < P/W (paper 002, section II).
std::string bound(const cost::Evaluation& cost) {
    const double moving = std::accumulate(cost.levels.begin(), cost.levels.end(), 0.0);
    if (moving <= cost.compute) return "";
    return fmt::format("  memory-bound, moves {:.3g} us, computes {:.3g} us", moving * 1e6,
                       cost.compute * 1e6);
}

using Operators = std::set<int>;

bool is_within(const NumberedNest& kernel, const Operators& part) {
    const std::vector<int> all = kernel.operators();
    return std::ranges::all_of(all, [&](int op) { return part.contains(op); });
}

/// The tree of one part: kernels of other operators stay as they are.
class TreeSearch {
public:
    TreeSearch(const BlockContext& block, SolvedKernels& solved, const Operators& part)
        : block_(block), solved_(solved), part_(part), seconds_of_kernel_(solved.seconds_of_kernel()) {}

    /// @return the best structure
    Structure run(const Structure& start, int64_t most_states, int64_t most_priced) {
        const int root = enter(start, {});
        TESSERA_CHECK(root == 0, "an operator of the block has no kernel of its own");
        for (const NumberedNest& kernel : start)
            if (is_within(kernel, part_))
                report_.kernels.push_back(text(block_, kernel) + bound(solved_(kernel)->cost));
        while (!states_[0].is_exhausted && static_cast<int64_t>(states_.size()) < most_states &&
               solved_.priced() < most_priced)
            walk();
        return best();
    }

    const PartReport& report() const { return report_; }

    /// Structures by ascending time.
    std::vector<Structure> cheapest(size_t most) const {
        std::vector<const State*> states;
        for (const State& state : states_) states.push_back(&state);
        std::ranges::stable_sort(states, {}, &State::seconds);
        std::vector<Structure> structures;
        for (size_t i = 0; i < std::min(most, states.size()); ++i) structures.push_back(states[i]->structure);
        return structures;
    }

private:
    struct State {
        Structure structure;
        std::vector<std::string> actions;  ///< from the root
        double seconds = 0;                ///< of the part
        double best = 0;                   ///< of all evaluated states from here down
        int64_t visits = 1;
        bool is_expanded = false, is_exhausted = false;
        std::vector<Merge> untried;  ///< in reverse
        std::vector<int> children;
    };

    /// The state of a structure; -1 if one of its kernels is illegal.
    int enter(Structure structure, std::vector<std::string> actions) {
        std::string key;
        for (const NumberedNest& kernel : structure)
            if (is_within(kernel, part_)) key += text(block_, kernel) + "\n";
        if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
        double seconds = 0;
        for (const NumberedNest& kernel : structure) {
            if (!is_within(kernel, part_)) continue;
            const std::optional<SolvedKernel>& each = solved_(kernel);
            if (!each) return numbers_.emplace(key, -1).first->second;
            seconds += each->seconds + seconds_of_kernel_;
        }
        const int number = static_cast<int>(states_.size());
        numbers_.emplace(key, number);
        State state{.structure = std::move(structure), .actions = std::move(actions)};
        state.seconds = state.best = seconds;
        states_.push_back(std::move(state));
        return number;
    }

    void walk() {
        ++report_.visits;
        std::vector<int> path = {0};
        while (true) {
            const int at = path.back();
            expand(at);
            if (const std::optional<int> child = try_next(at)) {
                path.push_back(*child);
                break;
            }
            const int next = select(at);
            if (next < 0) break;
            path.push_back(next);
        }
        const double found = states_[static_cast<size_t>(path.back())].best;
        for (auto at = path.rbegin(); at != path.rend(); ++at) {
            State& state = states_[static_cast<size_t>(*at)];
            ++state.visits;
            state.best = std::min(state.best, found);
            state.is_exhausted = state.is_expanded && state.untried.empty() &&
                                 std::ranges::all_of(state.children, [&](int child) {
                                     return states_[static_cast<size_t>(child)].is_exhausted;
                                 });
        }
    }

    /// Actions are sorted by the most that they may save: no merge saves more than both kernels take.
    void expand(int at) {
        State& state = states_[static_cast<size_t>(at)];
        if (state.is_expanded) return;
        state.is_expanded = true;
        std::vector<std::pair<double, Merge>> actions;
        for (const Merge& merge : merges(block_, state.structure)) {
            const NumberedNest& from = state.structure[merge.kernel];
            const NumberedNest& into = state.structure[merge.into];
            if (!is_within(from, part_) || !is_within(into, part_) || !solved_.may_save(from, into)) continue;
            actions.emplace_back(solved_.seconds(from) + solved_.seconds(into), merge);
        }
        std::ranges::stable_sort(actions, [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [seconds, merge] : actions) state.untried.push_back(merge);
    }

    /// Evaluates the next untried merge; nothing if none is left.
    std::optional<int> try_next(int at) {
        while (!states_[static_cast<size_t>(at)].untried.empty()) {
            State& state = states_[static_cast<size_t>(at)];
            const Merge merge = state.untried.back();
            state.untried.pop_back();
            std::vector<std::string> actions = state.actions;
            actions.push_back(text(block_, merge, state.structure));
            const auto before = states_.size();
            const int child = enter(applied(block_, state.structure, merge), std::move(actions));
            if (child < 0) continue;
            std::vector<int>& children = states_[static_cast<size_t>(at)].children;
            if (std::ranges::find(children, child) == children.end()) children.push_back(child);
            if (states_.size() > before) return child;
        }
        return std::nullopt;
    }

    int select(int at) const {
        const State& state = states_[static_cast<size_t>(at)];
        const double unfused = states_[0].seconds;
        int best = -1;
        double most = -std::numeric_limits<double>::infinity();
        for (const int child : state.children) {
            const State& below = states_[static_cast<size_t>(child)];
            if (below.is_exhausted) continue;
            const double saved = unfused > 0 ? (unfused - below.best) / unfused : 0;
            const double value =
                saved + kExploration * std::sqrt(std::log(static_cast<double>(state.visits)) /
                                                 static_cast<double>(below.visits));
            if (value > most) {
                most = value;
                best = child;
            }
        }
        return best;
    }

    Structure best() {
        double least = states_.front().seconds;
        for (const State& state : states_) least = std::min(least, state.seconds);
        const State* best = nullptr;
        for (const State& state : states_)
            if (kWorthwhile * state.seconds <= least && (!best || rank(state) < rank(*best))) best = &state;
        report_.runner_up_seconds = std::numeric_limits<double>::infinity();
        for (const State& state : states_) {
            if (&state == best || state.seconds >= report_.runner_up_seconds) continue;
            report_.runner_up_seconds = state.seconds;
            report_.runner_up = state.actions;
        }
        report_.before = states_.front().seconds;
        report_.seconds = best->seconds;
        report_.actions = best->actions;
        report_.states = static_cast<int64_t>(states_.size());
        report_.is_exhausted = states_.front().is_exhausted;
        return best->structure;
    }

    static std::pair<size_t, double> rank(const State& state) {
        return {state.actions.size(), state.seconds};
    }

    const BlockContext& block_;
    SolvedKernels& solved_;
    const Operators& part_;
    const double seconds_of_kernel_;
    std::vector<State> states_;
    std::map<std::string, int> numbers_;  ///< of states, by their kernels
    PartReport report_;
};

class BlockSearch {
public:
    BlockSearch(BlockContext& block, const SearchOptions& options)
        : block_(block), options_(options), solved_(block, options.tiles), structure_(unfused(block)) {}

    Schedule run() {
        out_.unfused_seconds = solved_.unfused_seconds();
        out_.is_exhausted = true;
        while (const std::optional<Operators> part = next_part()) {
            if (out_.states >= options_.states || solved_.priced() >= options_.priced) {
                out_.is_exhausted = false;
                break;
            }
            TreeSearch tree(block_, solved_, *part);
            structure_ =
                tree.run(structure_, std::min(options_.states_of_part, options_.states - out_.states),
                         options_.priced);
            out_.cheapest = out_.parts.empty() ? tree.cheapest(options_.kept) : std::vector<Structure>{};
            out_.parts.push_back(tree.report());
            out_.visits += tree.report().visits;
            out_.states += tree.report().states;
            out_.is_exhausted = out_.is_exhausted && tree.report().is_exhausted;
        }
        out_.kernels_solved = solved_.count();
        out_.work = solved_.work();
        out_.priced = solved_.priced();
        out_.left_apart = left_apart();
        out_.is_proved = out_.is_exhausted && out_.parts.size() <= 1 && solved_.are_all_proved();
        for (const NumberedNest& kernel : structure_) {
            out_.kernels.push_back(*solved_(kernel));
            out_.seconds += solved_.seconds(kernel);
        }
        if (out_.cheapest.empty() && options_.kept > 0) out_.cheapest.push_back(structure_);
        return std::move(out_);
    }

private:
    /// The number of kernel pairs that only limits keep apart, and that might be noticeably faster as one.
    int64_t left_apart() {
        std::set<std::pair<size_t, size_t>> within, pairs;
        for (const Merge& merge : merges(block_, structure_)) within.emplace(merge.kernel, merge.into);
        for (const Merge& merge :
             merges(block_, structure_,
                    {structure_.size() + block_.links.operators.size(), std::numeric_limits<int>::max()}))
            if (!within.contains({merge.kernel, merge.into}) &&
                solved_.may_save(structure_[merge.kernel], structure_[merge.into]))
                pairs.emplace(merge.kernel, merge.into);
        return static_cast<int64_t>(pairs.size());
    }

    /// The operators around the slowest pair of kernels that might be merged, if they were not yet searched
    /// together in these kernels.
    std::optional<Operators> next_part() {
        std::vector<std::pair<size_t, size_t>> edges;
        for (const Merge& merge : merges(block_, structure_))
            if ((edges.empty() || edges.back() != std::pair(merge.kernel, merge.into)) &&
                solved_.may_save(structure_[merge.kernel], structure_[merge.into]))
                edges.emplace_back(merge.kernel, merge.into);
        std::vector<double> costs;
        for (const NumberedNest& kernel : structure_) costs.push_back(solved_.seconds(kernel));
        std::ranges::stable_sort(edges, [&](const auto& a, const auto& b) {
            return costs[a.first] + costs[a.second] > costs[b.first] + costs[b.second];
        });
        for (const auto& [from, into] : edges) {
            std::vector<size_t> kernels = {from, into};
            while (kernels.size() < options_.part) {
                std::optional<size_t> next;
                for (const auto& [a, b] : edges) {
                    const bool has_a = std::ranges::find(kernels, a) != kernels.end();
                    const bool has_b = std::ranges::find(kernels, b) != kernels.end();
                    if (has_a == has_b) continue;
                    const size_t neighbour = has_a ? b : a;
                    if (!next || costs[neighbour] > costs[*next]) next = neighbour;
                }
                if (!next) break;
                kernels.push_back(*next);
            }
            std::ranges::sort(kernels);
            std::string key;
            Operators part;
            for (const size_t kernel : kernels) {
                key += text(block_, structure_[kernel]) + "\n";
                const std::vector<int> all = structure_[kernel].operators();
                part.insert(all.begin(), all.end());
            }
            if (searched_.insert(key).second) return part;
        }
        return std::nullopt;
    }

    BlockContext& block_;
    const SearchOptions& options_;
    SolvedKernels solved_;
    Structure structure_;
    std::set<std::string> searched_;  ///< kernels of parts
    Schedule out_;
};

}  // namespace

Schedule search(BlockContext& block, const SearchOptions& options) {
    return BlockSearch(block, options).run();
}

}  // namespace tessera::schedule
