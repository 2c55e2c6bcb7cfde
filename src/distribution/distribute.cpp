#include "distribution/distribute.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "distribution/order.h"
#include "distribution/sweep.h"
#include "support/error.h"

// Three questions, each with a sweep of growing width under the bounds of a relaxation:
//
//   1. the least seconds, memory put aside. If that plan fits, it is the answer.
//   2. the least memory. If that does not fit, there is no valid plan.
//   3. between them: seconds + lambda x memory for the lambdas at which plans on the lower hull of
//      (memory, seconds) change. Each gives a bound, and often a plan that fits. The sweep over fronts of
//      (seconds, memory) is cut by all of these bounds, and by that of the memory.
//
//        seconds
//          |  o  3. a plan that fits               o  plans of the hull
//          |     x  the optimum: within the memory, above the line of one lambda
//          |        |     o
//          |        |              o  1.
//          +--------|---------------------- memory
//                 limit

namespace tessera::distribution {
namespace {

// A plan counts as better only if it gains more than this part.
constexpr double kLeastGain = 1e-10;
constexpr size_t kFirstWidth = 2;
constexpr size_t kWider = 8;  ///< times, from one sweep to the next
constexpr size_t kMostLambdas = 12;

struct Answer {
    std::vector<int> choices;  ///< empty if none was found
    Price price;
    double bound = 0;  ///< of the value of the objective
    bool is_proven = false;
};

class Search {
public:
    Search(const Problem& problem, const OperatorChoices& choices, const DistributeOptions& options)
        : problem_(problem), options_(options), nodes_(options.nodes), choices_(choices) {
        graph_ = build_search_graph(problem, choices_);
        order_ = decision_order(graph_);
        sets_.resize(graph_.values.size());
    }

    Distribution run() {
        const std::optional<int64_t> limit = limit_in_units();
        const Weighed fastest = weigh({1, 0, false});
        if (!limit || fastest.answer.price.units <= *limit) return result(fastest.answer, fastest.objective);
        const Weighed smallest = weigh({0, 1, false});
        if (smallest.answer.price.units > *limit) {
            Distribution none = result(smallest.answer, smallest.objective);
            const bool is_proven =
                smallest.answer.is_proven || smallest.answer.bound > static_cast<double>(*limit) + 0.25;
            none.status = is_proven ? Status::kInfeasible : Status::kOutOfBudget;
            none.bound = fastest.answer.bound;
            return none;
        }
        return constrained(fastest, smallest, *limit);
    }

private:
    /// One weighted sum, minimised.
    struct Weighed {
        Objective objective;
        std::shared_ptr<Relaxation> relaxation;  ///< tightened, with all choices
        Answer answer;
    };

    std::optional<int64_t> limit_in_units() const {
        int64_t units = 0;
        if (!problem_.memory || __builtin_mul_overflow(*problem_.memory, problem_.units_per_byte(), &units))
            return std::nullopt;
        return units;
    }

    // A value below which a plan must lie to be better. Memory alone is counted in whole units.
    static double below(const Objective& objective, double value) {
        if (value == kInfinity) return value;
        return objective.per_second == 0 ? value - 0.5 : value - std::abs(value) * kLeastGain;
    }

    Weighed weigh(const Objective& objective, size_t most_width = std::numeric_limits<size_t>::max()) {
        Weighed weighed{objective, std::make_shared<Relaxation>(graph_, sets_, order_, objective), {}};
        if (options_.tighten) weighed.relaxation->tighten();
        Relaxation relaxation = *weighed.relaxation;  // loses the choices of plans that are not better
        std::vector<BoxTrees> trees = trees_for(objective);
        Answer& answer = weighed.answer;
        answer.bound = relaxation.bound();
        double value = kInfinity;
        for (size_t width = kFirstWidth; nodes_ > 0 && width <= most_width; width *= kWider) {
            const std::vector<Cut> cuts{{.relaxation = &relaxation, .most = below(objective, value)}};
            const SweepResult found = sweep(graph_, order_, sets_, trees, objective, cuts, {width, nodes_});
            nodes_ -= found.nodes;
            if (!found.choices.empty()) {
                answer.choices = found.choices;
                answer.price = found.price;
                value = objective.of(found.price);
            }
            if (!found.is_complete) break;
            answer.bound = std::max(answer.bound, std::min(found.lost, below(objective, value)));
            if (answer.bound >= below(objective, value)) {
                answer.is_proven = true;
                break;
            }
            if (options_.remove_choices) relaxation.remove_choices_above(below(objective, value));
        }
        if (answer.choices.empty()) broadcast_all(answer, trees);
        return weighed;
    }

    // The plan in which all devices do the same. It exists unless the choices are restricted.
    void broadcast_all(Answer& answer, std::vector<BoxTrees>& trees) {
        const Form whole(problem_.placement.rank(), broadcast());
        for (const std::vector<Choice>& choices : choices_) {
            const auto at = std::ranges::find_if(choices, [&](const Choice& choice) {
                return std::ranges::all_of(choice.forms, [&](const Form& form) { return form == whole; });
            });
            if (at == choices.end())
                throw Error("distribution", "",
                            "found no plan in so many beginnings, and none where all devices "
                            "do the same is allowed",
                            "allow more --nodes");
            answer.choices.push_back(static_cast<int>(at - choices.begin()));
            answer.price.seconds += at->seconds;
        }
        const Asked asked = asked_by(answer.choices);
        for (size_t v = 0; v < trees.size(); ++v) {
            const Price& price = trees[v].prices(asked.first[v], asked.sets[v]).front();
            answer.price.seconds += price.seconds;
            answer.price.units += price.units;
        }
    }

    // The first form of each value, and the forms that are asked for.
    struct Asked {
        std::vector<FormId> first;
        std::vector<SetId> sets;
    };
    Asked asked_by(const std::vector<int>& choices) {
        Asked asked;
        for (size_t v = 0; v < graph_.values.size(); ++v) {
            const Cluster& cluster = graph_.values[v];
            asked.first.push_back(cluster.given);
            asked.sets.push_back(cluster.wanted == kFree ? 0 : sets_[v].with(0, cluster.wanted));
        }
        for (size_t o = 0; o < graph_.operators.size(); ++o) {
            const SearchOperator& op = graph_.operators[o];
            for (size_t t = 0; t < op.values.size(); ++t) {
                const auto v = static_cast<size_t>(op.values[t]);
                const FormId form = op.choices[static_cast<size_t>(choices[o])].forms[t];
                if (op.is_result[t])
                    asked.first[v] = form;
                else
                    asked.sets[v] = sets_[v].with(asked.sets[v], form);
            }
        }
        return asked;
    }

    std::vector<BoxTrees> trees_for(const Objective& objective) {
        std::vector<BoxTrees> trees;
        for (size_t v = 0; v < graph_.values.size(); ++v)
            trees.emplace_back(graph_.values[v], sets_[v], objective);
        return trees;
    }

    Distribution constrained(const Weighed& fastest, const Weighed& smallest, int64_t limit) {
        // Points of the hull on both sides of the limit.
        Price too_large = fastest.answer.price;
        Answer best = smallest.answer;
        Price fits = best.price;
        double bound = fastest.answer.bound;
        std::vector<Weighed> lambdas;
        while (options_.weigh_memory && lambdas.size() < kMostLambdas && nodes_ > 0) {
            const double lambda =
                (fits.seconds - too_large.seconds) / static_cast<double>(too_large.units - fits.units);
            if (!(lambda > 0)) break;
            Weighed& next = lambdas.emplace_back(weigh({1, lambda, false}, kFirstWidth * kWider * kWider));
            bound = std::max(bound, next.answer.bound - lambda * static_cast<double>(limit));
            const Price& price = next.answer.price;
            if (price.units <= limit && price.seconds < best.price.seconds) best = next.answer;
            const double line = next.objective.of(fits);
            if (next.objective.of(price) >= line - std::abs(line) * kLeastGain) break;
            (price.units <= limit ? fits : too_large) = price;
        }
        const Objective both{1, 0, true};
        std::vector<Cut> cuts;
        // The last lambdas are those of the hull's edge above the limit.
        for (size_t i = lambdas.size(); i > 0 && cuts.size() < 4; --i)
            cuts.push_back({.relaxation = lambdas[i - 1].relaxation.get(),
                            .offset = lambdas[i - 1].objective.per_unit * static_cast<double>(limit)});
        cuts.push_back({.relaxation = fastest.relaxation.get()});
        cuts.push_back({.relaxation = smallest.relaxation.get(),
                        .most = static_cast<double>(limit) + 0.25,
                        .ranks = false});
        return result(narrowed(best, bound, cuts, both), both);
    }

    // The sweep over fronts.
    Answer narrowed(Answer best, double bound, std::vector<Cut>& cuts, const Objective& both) {
        std::vector<BoxTrees> trees = trees_for(both);
        best.is_proven = false;
        for (size_t width = kFirstWidth; nodes_ > 0; width *= kWider) {
            const double most = below(both, best.price.seconds);
            for (Cut& cut : cuts) {
                if (cut.ranks) cut.most = most;
                if (options_.remove_choices) cut.relaxation->remove_choices_above(cut.most + cut.offset);
            }
            const SweepResult found = sweep(graph_, order_, sets_, trees, both, cuts, {width, nodes_});
            nodes_ -= found.nodes;
            if (!found.choices.empty()) {
                best.choices = found.choices;
                best.price = found.price;
            }
            if (!found.is_complete) break;
            bound = std::max(bound, std::min(found.lost, below(both, best.price.seconds)));
            if (bound >= below(both, best.price.seconds)) {
                best.is_proven = true;
                break;
            }
        }
        best.bound = bound;
        return best;
    }

    // The plan of these choices: for each value the trees that its forms need, together within the price.
    DistributionPlan plan_of(const Answer& answer, const Objective& objective) {
        DistributionPlan plan;
        for (size_t o = 0; o < choices_.size(); ++o)
            plan.operators.push_back(choices_[o][static_cast<size_t>(answer.choices[o])]);
        const Asked asked = asked_by(answer.choices);
        std::vector<BoxTrees> trees = trees_for(objective);
        const std::vector<Price> prices = prices_of(trees, asked, answer, objective);
        for (size_t v = 0; v < graph_.values.size(); ++v) {
            const BoxTrees::Tree tree = trees[v].tree(asked.first[v], asked.sets[v], prices[v]);
            const Cluster& cluster = graph_.values[v];
            ValuePlan& value = plan.values.emplace_back();
            value.made = cluster.forms[static_cast<size_t>(tree.first)];
            for (const Cluster::Edge& edge : tree.boxes)
                value.boxes.push_back(box_of(static_cast<int>(v), edge));
        }
        plan.seconds = seconds_of(plan);
        plan.units = units_of(problem_, plan);
        return plan;
    }

    Box box_of(int v, const Cluster::Edge& edge) const {
        const Cluster& cluster = graph_.values[static_cast<size_t>(v)];
        const Form& from = cluster.forms[static_cast<size_t>(edge.from)];
        const Form& to = cluster.forms[static_cast<size_t>(edge.to)];
        const auto level = static_cast<int>(std::ranges::mismatch(from, to).in1 - from.begin());
        return *box(problem_, problem_.values[static_cast<size_t>(v)], from, level,
                    to[static_cast<size_t>(level)]);
    }

    // One price for each value: together the best by the objective that hold no more than the answer.
    static std::vector<Price> prices_of(std::vector<BoxTrees>& trees, const Asked& asked,
                                        const Answer& answer, const Objective& objective) {
        struct Sum {
            Price price;
            std::vector<Price> parts;
        };
        std::vector<Sum> sums{{}};
        for (size_t v = 0; v < trees.size(); ++v) {
            std::vector<Sum> more;
            for (const Sum& sum : sums)
                for (const Price& price : trees[v].prices(asked.first[v], asked.sets[v])) {
                    Sum& next = more.emplace_back(sum);
                    next.price.seconds += price.seconds;
                    next.price.units += price.units;
                    next.parts.push_back(price);
                }
            std::ranges::stable_sort(more, [&](const Sum& a, const Sum& b) {
                const double left = objective.of(a.price);
                const double right = objective.of(b.price);
                return left != right ? left < right : a.price.units < b.price.units;
            });
            sums.clear();
            for (Sum& sum : more)
                if (sums.empty() || (objective.both && sum.price.units < sums.back().price.units))
                    sums.push_back(std::move(sum));
        }
        // The fastest one that the search has found to fit.
        for (Sum& sum : sums)
            if (sum.price.units <= answer.price.units) return std::move(sum.parts);
        TESSERA_CHECK(false, "the boxes of a plan hold more than the plan");
    }

    Distribution result(const Answer& answer, const Objective& objective) {
        Distribution found;
        found.plan = plan_of(answer, objective);
        found.status = answer.is_proven ? Status::kOptimal : Status::kFeasible;
        found.bound = std::min(answer.bound, found.plan.seconds);
        TESSERA_CHECK(found.plan.units <= answer.price.units &&
                          found.plan.seconds <= answer.price.seconds * (1 + 1e-9) + 1e-300,
                      "{} units and {} s were promised, the plan has {} and {}", answer.price.units,
                      answer.price.seconds, found.plan.units, found.plan.seconds);
        found.nodes = spent();
        return found;
    }

    int64_t spent() const { return start_ - nodes_; }

    const Problem& problem_;
    DistributeOptions options_;
    int64_t nodes_;
    int64_t start_ = nodes_;
    const OperatorChoices& choices_;
    SearchGraph graph_;
    std::vector<int> order_;
    std::vector<FormSets> sets_;
};

}  // namespace

Distribution distribute(const Problem& problem, const DistributeOptions& options) {
    OperatorChoices choices;
    for (const Operator& op : problem.operators) choices.push_back(derive_choices(problem, op));
    return distribute_choices(problem, choices, options);
}

Distribution distribute_choices(const Problem& problem, const OperatorChoices& choices,
                                const DistributeOptions& options) {
    return Search(problem, choices, options).run();
}

double seconds_of(const DistributionPlan& plan) {
    double seconds = 0;
    for (const Choice& choice : plan.operators) seconds += choice.seconds;
    for (const ValuePlan& value : plan.values)
        for (const Box& each : value.boxes) seconds += each.seconds;
    return seconds;
}

int64_t units_of(const Problem& problem, const Value& value, const ValuePlan& plan) {
    int64_t units = problem.units(value, plan.made);
    for (const Box& each : plan.boxes) units += problem.box_units(value, each.to);
    return units;
}

int64_t units_of(const Problem& problem, const DistributionPlan& plan) {
    int64_t units = 0;
    for (size_t v = 0; v < plan.values.size(); ++v)
        units += units_of(problem, problem.values[v], plan.values[v]);
    return units;
}

}  // namespace tessera::distribution
