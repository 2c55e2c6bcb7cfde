// Branch and bound. A node is a box, a range of every domain. It is narrowed (propagate.h), bounded, and
// split at the middle of one variable's range:
//
//                 m1 8..128, place 0..1      bound 7.1e6
//                /                      \                     the better half is searched at once, down to an
//        m1 8..64    7.3e6       m1 72..128  9.0e6            assignment; the other one waits with its bound
//
// The split variable is the one whose sums have refused the most boxes, per value that it has left (weighted
// degree). The box with the least bound is next, so its bound is that of the whole problem. Paper 000, 3.2.2,
// asks for a solver of mixed-integer nonlinear programs; this one uses that domains are finite and all terms
// positive. Dropped: restarts, and a local search for the first assignment, which the first descent finds
// well enough.
#include "search/tiles/solve.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "search/tiles/evaluate.h"
#include "search/tiles/neighbourhoods.h"
#include "search/tiles/normal_form.h"
#include "search/tiles/open_boxes.h"
#include "search/tiles/propagate.h"
#include "support/error.h"

namespace tessera::tiles {
namespace {

constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();
// Costs this near are equal. Well within kTolerance, well beyond the rounding of a bound.
constexpr double kSameCost = 2e-10;
constexpr double kBoundRounding = 1e-12;
constexpr double kWeightDecay = 0.999;
constexpr double kMostWeight = 1e100;
constexpr int64_t kShareOfNeighbourhoods = 3;
constexpr int64_t kNodesOfNeighbourhood = 200;

class Search {
public:
    Search(const Problem& problem, const Options& options)
        : problem_(problem),
          options_(options),
          budget_(options.nodes.value_or(own_budget(problem))),
          form_(normal_form(problem, options)),
          propagator_(form_, options),
          weights_(propagator_.rules(), 1),
          neighbourhoods_(form_) {}

    Solution run() {
        if (options_.incumbent) offer(*options_.incumbent);
        bool is_done = false;
        if (budget_ > 0) {
            solution_.nodes = 1;
            is_done = form_.is_infeasible || search_all();
        }
        finish(is_done);
        return std::move(solution_);
    }

private:
    bool search_all();
    bool descend(OpenBox open);
    void improve();
    bool search_neighbourhood(Box box, int64_t most_nodes);
    std::optional<OpenBox> part(const OpenBox& of, size_t variable, Range range);
    std::vector<OpenBox> halves(const OpenBox& of, size_t variable);
    std::optional<size_t> variable_to_split(const Box& box) const;
    void blame(size_t rule);
    void offer(const Assignment& values);
    void offer_box(const Box& box);
    bool is_worthwhile(double bound) const { return bound < cost_limit(); }
    double cost_limit() const {
        return solution_.has_values() ? solution_.cost * (1 - std::max(kSameCost, options_.gap))
                                      : kInfiniteCost;
    }
    void finish(bool is_done);

    const Problem& problem_;
    const Options& options_;
    int64_t budget_;
    NormalForm form_;
    Propagator propagator_;
    std::vector<double> weights_;  ///< of rules
    double blame_ = 1;
    OpenBoxes open_;
    int64_t made_ = 0;
    Solution solution_;
    Box root_;
    std::vector<int32_t> place_of_best_;  ///< of the best assignment's values
    Neighbourhoods neighbourhoods_;
    int64_t spent_on_neighbourhoods_ = 0;
};

void Search::offer(const Assignment& values) {
    const Evaluation evaluation = evaluate(problem_, values);
    double most = kInfiniteCost;
    if (solution_.has_values()) most = solution_.cost;
    if (!evaluation.is_feasible() || !(evaluation.cost < most)) return;
    const double cost = options_.price ? options_.price(values) : evaluation.cost;
    if (!(cost < most)) return;
    solution_.values = values;
    solution_.cost = cost;
    place_of_best_.clear();
    for (size_t v = 0; v < values.size(); ++v) {
        const std::vector<int64_t>& domain = form_.variables[v].values;
        place_of_best_.push_back(
            static_cast<int32_t>(std::lower_bound(domain.begin(), domain.end(), values[v]) - domain.begin()));
    }
    propagator_.set_cost_limit(cost_limit());
    open_.order_by_bound();
}

void Search::offer_box(const Box& box) {
    Assignment values;
    for (size_t v = 0; v < box.size(); ++v)
        values.push_back(form_.variables[v].values[static_cast<size_t>(box[v].first)]);
    offer(values);
}

void Search::blame(size_t rule) {
    weights_[rule] += blame_;
    blame_ /= kWeightDecay;
    if (blame_ < kMostWeight) return;
    for (double& weight : weights_) weight /= kMostWeight;
    blame_ /= kMostWeight;
}

std::optional<size_t> Search::variable_to_split(const Box& box) const {
    std::optional<size_t> best;
    double most = -1;
    for (size_t v = 0; v < box.size(); ++v) {
        if (box[v].is_single()) continue;
        double weight = 0;
        for (const size_t rule : propagator_.rules_of(v)) weight += weights_[rule];
        weight /= box[v].size();
        if (weight <= most) continue;
        most = weight;
        best = v;
    }
    return best;
}

/// A part of a box, narrowed and bounded; empty if it holds nothing worthwhile.
std::optional<OpenBox> Search::part(const OpenBox& of, size_t variable, Range range) {
    OpenBox made{of.box, of.bound, made_++};
    ++solution_.nodes;
    made.box[variable] = range;
    const std::optional<double> bound = propagator_.run(made.box);
    if (!bound) {
        blame(propagator_.culprit());
        return std::nullopt;
    }
    made.bound = std::max(made.bound, *bound);
    return made;
}

/// The narrowed halves of a range, the better one last: at equal bounds the one of the larger values.
std::vector<OpenBox> Search::halves(const OpenBox& of, size_t variable) {
    const auto [first, last] = of.box[variable];
    const int32_t middle = first + (last - first) / 2;
    std::optional<OpenBox> upper = part(of, variable, {middle + 1, last});
    std::optional<OpenBox> lower = part(of, variable, {first, middle});
    if (upper && lower && lower->bound < upper->bound) std::swap(upper, lower);
    std::vector<OpenBox> result;
    if (lower) result.push_back(std::move(*lower));
    if (upper) result.push_back(std::move(*upper));
    return result;
}

/// Follows the better half down to an assignment or to an empty box. False if the budget ended.
bool Search::descend(OpenBox open) {
    while (is_worthwhile(open.bound)) {
        const std::optional<size_t> variable = variable_to_split(open.box);
        if (!variable) {
            offer_box(open.box);
            return true;
        }
        if (solution_.nodes + 2 > budget_) {
            open_.add(std::move(open));
            return false;
        }
        std::vector<OpenBox> parts = halves(open, *variable);
        if (parts.empty()) return true;
        open = std::move(parts.back());
        if (parts.size() == 2) open_.add(std::move(parts.front()));
    }
    return true;
}

/// False if the budget ended before everything was searched.
bool Search::search_all() {
    OpenBox root;
    for (const NormalVariable& variable : form_.variables)
        root.box.push_back({0, static_cast<int32_t>(variable.values.size()) - 1});
    const std::optional<double> bound = propagator_.run(root.box);
    if (!bound) return true;
    root.bound = *bound;
    root_ = root.box;
    open_.add(std::move(root));
    while (std::optional<OpenBox> next = open_.take()) {
        if (!descend(std::move(*next))) return false;
        improve();
    }
    return true;
}

/// Searches near the best assignment, with a share of the work.
void Search::improve() {
    while (options_.neighbourhoods && solution_.has_values() && !neighbourhoods_.are_exhausted() &&
           spent_on_neighbourhoods_ * kShareOfNeighbourhoods <= solution_.nodes &&
           solution_.nodes < budget_) {
        const double before = solution_.cost;
        const int64_t begin = solution_.nodes;
        const int64_t most = std::min(begin + kNodesOfNeighbourhood, budget_);
        const bool is_whole = search_neighbourhood(neighbourhoods_.next(root_, place_of_best_), most);
        neighbourhoods_.learn(is_whole, solution_.cost < before);
        spent_on_neighbourhoods_ += solution_.nodes - begin;
    }
}

/// Depth first. False if the search of the box ended with the nodes.
bool Search::search_neighbourhood(Box box, int64_t most_nodes) {
    ++solution_.nodes;
    const std::optional<double> bound = propagator_.run(box);
    if (!bound) return true;
    std::vector<OpenBox> open(1);
    open.front().box = std::move(box);
    open.front().bound = *bound;
    while (!open.empty()) {
        const OpenBox next = std::move(open.back());
        open.pop_back();
        if (!is_worthwhile(next.bound)) continue;
        const std::optional<size_t> variable = variable_to_split(next.box);
        if (!variable) {
            offer_box(next.box);
            continue;
        }
        if (solution_.nodes + 2 > most_nodes) return false;
        for (OpenBox& part : halves(next, *variable)) open.push_back(std::move(part));
    }
    return true;
}

void Search::finish(bool is_done) {
    if (is_done) {
        solution_.status = solution_.has_values() ? Status::kOptimal : Status::kInfeasible;
        solution_.bound = (1 - options_.gap) * solution_.cost;
        return;
    }
    const double open = solution_.nodes > 0 ? open_.bound() * (1 - kBoundRounding) : 0;
    if (!solution_.has_values()) {
        solution_.bound = open;
        return;
    }
    // The open boxes may all be above the cost: they were not compared again.
    const bool is_proved = open > cost_limit();
    solution_.status = is_proved ? Status::kOptimal : Status::kFeasible;
    solution_.bound = is_proved ? (1 - options_.gap) * solution_.cost : open;
}

}  // namespace

int64_t own_budget(const Problem& problem) {
    // A node visits every variable in every term.
    constexpr double kWork = 8e9;
    constexpr double kLeast = 1e4, kMost = 1e6;
    double size = 1;
    const auto add = [&](const Sum& sum) {
        for (const Term& term : sum.terms)
            size += static_cast<double>(1 + term.powers.size() + term.trips.size() + term.conditions.size());
    };
    for (const Constraint& constraint : problem.constraints) add(constraint.sum);
    for (const Sum& sum : problem.objective) add(sum);
    size *= static_cast<double>(problem.variables.size());
    return static_cast<int64_t>(std::clamp(kWork / size, kLeast, kMost));
}

double Solution::gap() const {
    return cost > bound ? (cost - bound) / cost : 0;
}

Solution solve(const Problem& problem, const Options& options) {
    TESSERA_CHECK(!problem.variables.empty() && !problem.objective.empty());
    return Search(problem, options).run();
}

}  // namespace tessera::tiles
