#include "distribution/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "distribution/sweep_layer.h"

// After each step, beginnings of plans that leave the same state are merged. The state holds, for each value
// that decided and undecided operators share, the form in which it is made and the set of forms that are
// asked for. The best of its prices counts, or the front of (seconds, memory).
//
//   step 1   up        H: made S(1), asked {}
//   step 2   activate  G: made S(1), asked {}          H has ended: its boxes are priced
//   step 3   down      Y: made P(sum), asked {B}  ..   all have ended
//
// A beginning is cut if its price and the bound of what is left exceed the price of a plan that is known. If
// too many are left, the best by that number are kept; the least number that was dropped bounds the loss.

namespace tessera::distribution {
namespace {

// Trees for more forms of one value cost too much; plans with so many are given up, with their bound.
constexpr size_t kMostForms = 9;
// The labels of one state are pruned when there are more.
constexpr size_t kMostUnsorted = 64;
constexpr double kNotAsked = std::numeric_limits<double>::quiet_NaN();

struct Origin {
    int32_t parent;
    int32_t choice;
};

/// The state of a value after one form of one of its tensors is decided.
struct Step {
    uint64_t key = 0;
    std::vector<double> bounds;  ///< of the value for each cut, asked when they are needed
    bool is_too_large = false;
};

class Sweep {
public:
    Sweep(const SearchGraph& graph, const std::vector<int>& order, std::vector<FormSets>& sets,
          std::vector<BoxTrees>& trees, const Objective& objective, const std::vector<Cut>& cuts,
          const SweepOptions& options)
        : graph_(graph),
          order_(order),
          sets_(sets),
          trees_(trees),
          objective_(objective),
          cuts_(cuts),
          options_(options),
          first_(graph.values.size(), -1),
          last_(graph.values.size(), -1) {
        for (size_t step = 0; step < order.size(); ++step)
            for (const int v : op_at(step).values) {
                int& first = first_[static_cast<size_t>(v)];
                if (first < 0) first = static_cast<int>(step);
                last_[static_cast<size_t>(v)] = static_cast<int>(step);
            }
    }

    SweepResult run() {
        Layer layer(0);
        SweepState& nothing = layer.find_or_add({});
        nothing.labels.push_back({});
        nothing.bounds = bounds_of_rest(-1);
        for (size_t step = 0; step < order_.size() && result_.is_complete; ++step)
            layer = advance(layer, step);
        if (result_.is_complete) finish(layer);
        return std::move(result_);
    }

private:
    const SearchOperator& op_at(size_t step) const {
        return graph_.operators[static_cast<size_t>(order_[step])];
    }

    // Lower bounds, by cut, on the price of the operators and values that are still undecided after the step.
    std::vector<double> bounds_of_rest(int step) const {
        std::vector<double> bounds(cuts_.size(), 0);
        for (size_t c = 0; c < cuts_.size(); ++c) {
            for (size_t s = 0; s < order_.size(); ++s)
                if (static_cast<int>(s) > step) bounds[c] += cuts_[c].relaxation->of_operator(order_[s]);
            for (size_t v = 0; v < first_.size(); ++v)
                if (first_[v] > step) bounds[c] += cuts_[c].relaxation->of_value(static_cast<int>(v));
        }
        return bounds;
    }

    uint64_t untouched(int value) const {
        const Cluster& cluster = graph_.values[static_cast<size_t>(value)];
        ValueState state;
        if (graph_.makers[static_cast<size_t>(value)] < 0) state.made = cluster.given;
        if (cluster.wanted != kFree) state.asked = sets_[static_cast<size_t>(value)].with(0, cluster.wanted);
        return packed(state);
    }

    /// One operator is decided: what is the same for all beginnings.
    struct Decision {
        int step = 0;
        const SearchOperator* op = nullptr;
        std::vector<size_t> choices;  ///< that no relaxation has taken out
        std::vector<double> rest;     ///< bounds_of_rest
        std::vector<int> untouched;   ///< positions of open values that the operator does not touch
        /// The origin of a value that is open afterwards: its position before, or the tensor that it is.
        struct Source {
            int position = -1;
            int tensor = -1;
        };
        std::vector<Source> sources;
        std::vector<int> before;  ///< of each tensor the position of its value; -1 if nothing was decided
        std::vector<bool> ends;   ///< whether all is decided of the tensor's value
        std::vector<std::vector<FormId>> forms;   ///< of each tensor the different ones among the choices
        std::vector<std::vector<int>> positions;  ///< of each tensor and choice the position in `forms`
        /// For each tensor and each state of its value the step of each form.
        std::vector<std::unordered_map<uint64_t, std::vector<Step>>> steps;
    };

    Decision decision(size_t step) {
        Decision made;
        made.step = static_cast<int>(step);
        made.op = &op_at(step);
        const SearchOperator& op = *made.op;
        made.rest = bounds_of_rest(made.step);
        for (size_t x = 0; x < op.choices.size(); ++x)
            if (std::ranges::all_of(cuts_, [&](const Cut& cut) {
                    return cut.relaxation->is_left(order_[step], static_cast<int>(x));
                }))
                made.choices.push_back(x);
        std::vector<int> after;
        for (size_t i = 0; i < open_.size(); ++i) {
            if (std::ranges::find(op.values, open_[i]) != op.values.end()) continue;
            made.untouched.push_back(static_cast<int>(i));
            made.sources.push_back({static_cast<int>(i), -1});
            after.push_back(open_[i]);
        }
        made.steps.resize(op.values.size());
        for (size_t t = 0; t < op.values.size(); ++t) {
            const int v = op.values[t];
            const auto at = std::ranges::find(open_, v);
            made.before.push_back(at == open_.end() ? -1 : static_cast<int>(at - open_.begin()));
            made.ends.push_back(last_[static_cast<size_t>(v)] == made.step);
            std::map<FormId, int> positions;
            std::vector<FormId>& forms = made.forms.emplace_back();
            made.positions.emplace_back(op.choices.size(), -1);
            for (const size_t x : made.choices) {
                const FormId form = op.choices[x].forms[t];
                const auto [entry, is_new] = positions.try_emplace(form, static_cast<int>(forms.size()));
                if (is_new) forms.push_back(form);
                made.positions[t][x] = entry->second;
            }
            if (made.ends[t]) continue;
            made.sources.push_back({-1, static_cast<int>(t)});
            after.push_back(v);
        }
        opened_ = std::move(open_);
        open_ = std::move(after);
        return made;
    }

    std::vector<Step>& steps_of(Decision& made, size_t tensor, uint64_t key) {
        const auto [at, is_new] = made.steps[tensor].try_emplace(key);
        if (!is_new) return at->second;
        FormSets& sets = sets_[static_cast<size_t>(made.op->values[tensor])];
        for (const FormId form : made.forms[tensor]) {
            ValueState state = unpacked(key);
            if (made.op->is_result[tensor])
                state.made = form;
            else
                state.asked = sets.with(state.asked, form);
            at->second.push_back({packed(state), std::vector<double>(cuts_.size(), kNotAsked),
                                  sets[state.asked].size() > kMostForms});
        }
        return at->second;
    }

    double bound_of(const Decision& made, size_t tensor, Step& step, size_t cut) const {
        double& bound = step.bounds[cut];
        if (std::isnan(bound))
            bound =
                cuts_[cut].relaxation->of_value(made.op->values[tensor], made.step + 1, unpacked(step.key));
        return bound;
    }

    Layer advance(const Layer& layer, size_t step) {
        Decision made = decision(step);
        Layer next(open_.size());
        for (size_t s = 0; s < layer.size() && result_.is_complete; ++s) {
            expand(made, layer.states[s], layer.key(s), next);
            result_.is_complete = result_.nodes <= options_.nodes;
        }
        settle(next);
        return next;
    }

    // All choices of the operator behind the beginnings of one state.
    void expand(Decision& made, const SweepState& state, const uint64_t* key, Layer& next) {
        const SearchOperator& op = *made.op;
        std::vector<std::vector<Step>*> of_tensor;
        for (size_t t = 0; t < op.values.size(); ++t)
            of_tensor.push_back(
                &steps_of(made, t, made.before[t] < 0 ? untouched(op.values[t]) : key[made.before[t]]));
        std::vector<double> base = made.rest;
        for (const int position : made.untouched)
            for (size_t c = 0; c < cuts_.size(); ++c)
                base[c] += cuts_[c].relaxation->of_value(opened_[static_cast<size_t>(position)],
                                                         made.step + 1, unpacked(key[position]));
        std::vector<Step*> steps(op.values.size());
        for (const size_t x : made.choices) {
            result_.nodes += static_cast<int64_t>(state.labels.size());
            for (size_t t = 0; t < op.values.size(); ++t)
                steps[t] = &(*of_tensor[t])[static_cast<size_t>(made.positions[t][x])];
            if (std::ranges::any_of(steps, [](const Step* each) { return each->is_too_large; })) {
                // The price of the beginning bounds the loss.
                for (const Label& label : state.labels)
                    result_.lost = std::min(result_.lost, rank(label.price, state.bounds));
                continue;
            }
            extend(made, state, x, base, steps);
            if (!found_.empty()) add(made, key, steps, next);
        }
    }

    // Puts the beginnings with one more choice that no cut removes into found_, their bounds into bounds_.
    void extend(const Decision& made, const SweepState& state, size_t x, const std::vector<double>& base,
                const std::vector<Step*>& steps) {
        found_.clear();
        for (const Label& label : state.labels)
            found_.push_back({{label.price.seconds + made.op->choices[x].seconds, label.price.units},
                              label.parent,
                              static_cast<int32_t>(x)});
        bounds_ = base;
        for (size_t c = 0; c < cuts_.size() && !found_.empty(); ++c) {
            double ended = 0;
            for (size_t t = 0; t < steps.size(); ++t) {
                const double bound = bound_of(made, t, *steps[t], c);
                bounds_[c] += bound;
                if (made.ends[t]) ended += bound;
            }
            if (bounds_[c] == kInfinity) return found_.clear();
            std::erase_if(found_, [&](const Label& label) { return is_cut(c, label.price, bounds_[c]); });
            bounds_[c] -= ended;  // which becomes part of the price
        }
        if (found_.empty()) return;
        for (size_t t = 0; t < steps.size(); ++t)
            if (made.ends[t]) {
                const ValueState end = unpacked(steps[t]->key);
                add_prices(found_,
                           trees_[static_cast<size_t>(made.op->values[t])].prices(end.made, end.asked));
            }
        std::erase_if(found_, [&](const Label& label) {
            for (size_t c = 0; c < cuts_.size(); ++c)
                if (is_cut(c, label.price, bounds_[c])) return true;
            return false;
        });
    }

    void add(const Decision& made, const uint64_t* before, const std::vector<Step*>& steps, Layer& next) {
        key_.clear();
        for (const Decision::Source& source : made.sources)
            key_.push_back(source.position >= 0 ? before[source.position]
                                                : steps[static_cast<size_t>(source.tensor)]->key);
        SweepState& state = next.find_or_add(key_);
        if (state.bounds.empty()) state.bounds = bounds_;
        state.labels.insert(state.labels.end(), found_.begin(), found_.end());
        if (!objective_.both || state.labels.size() > kMostUnsorted) keep_best_labels(state.labels);
    }

    void add_prices(std::vector<Label>& labels, const std::vector<Price>& prices) const {
        const size_t before = labels.size();
        for (size_t p = 1; p < prices.size(); ++p)
            for (size_t l = 0; l < before; ++l) {
                Label more = labels[l];
                more.price.seconds += prices[p].seconds;
                more.price.units += prices[p].units;
                labels.push_back(more);
            }
        for (size_t l = 0; l < before; ++l) {
            labels[l].price.seconds += prices[0].seconds;
            labels[l].price.units += prices[0].units;
        }
        if (prices.size() > 1) keep_best_labels(labels);
    }

    // As keep_best, with the origins.
    void keep_best_labels(std::vector<Label>& labels) const {
        if (labels.size() < 2) return;
        std::ranges::sort(labels, [&](const Label& a, const Label& b) {
            const double left = objective_.of(a.price);
            const double right = objective_.of(b.price);
            return left != right ? left < right : a.price.units < b.price.units;
        });
        size_t kept = 1;
        for (size_t i = 1; i < labels.size() && (objective_.both || i < 1); ++i)
            if (labels[i].price.units < labels[kept - 1].price.units) labels[kept++] = labels[i];
        labels.resize(kept);
    }

    bool is_cut(size_t c, const Price& price, double bound) const {
        return cuts_[c].relaxation->objective().of(price) + bound - cuts_[c].offset > cuts_[c].most;
    }

    double rank(const Price& price, const std::vector<double>& bounds) const {
        double value = -kInfinity;
        for (size_t c = 0; c < cuts_.size(); ++c)
            if (cuts_[c].ranks)
                value =
                    std::max(value, cuts_[c].relaxation->objective().of(price) + bounds[c] - cuts_[c].offset);
        return value;
    }

    // Drops the labels beyond the width, and notes the origins of the others.
    void settle(Layer& layer) {
        std::vector<double> ranks;
        for (SweepState& state : layer.states) {
            keep_best_labels(state.labels);
            for (const Label& label : state.labels) ranks.push_back(rank(label.price, state.bounds));
        }
        double most = kInfinity;
        size_t of_most = 0;  // labels of exactly that rank that may stay
        if (ranks.size() > options_.width) {
            std::vector<double> sorted = ranks;
            const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(options_.width) - 1;
            std::ranges::nth_element(sorted, nth);
            most = *nth;
            of_most = options_.width -
                      static_cast<size_t>(std::ranges::count_if(ranks, [&](double r) { return r < most; }));
        }
        size_t at = 0;
        for (SweepState& state : layer.states)
            std::erase_if(state.labels, [&](Label& label) {
                const double value = ranks[at++];
                if (value > most || (value == most && most < kInfinity && of_most == 0)) {
                    result_.lost = std::min(result_.lost, value);
                    return true;
                }
                if (value == most && most < kInfinity) --of_most;
                origins_.push_back({label.parent, label.choice});
                label.parent = static_cast<int32_t>(origins_.size() - 1);
                return false;
            });
    }

    void finish(const Layer& layer) {
        const Label* best = nullptr;
        double least = kInfinity;
        for (const SweepState& state : layer.states)
            for (const Label& label : state.labels)
                if (const double value = rank(label.price, state.bounds); value < least) {
                    best = &label;
                    least = value;
                }
        if (!best) return;
        result_.price = best->price;
        result_.choices.assign(order_.size(), -1);
        int32_t at = best->parent;
        for (size_t step = order_.size(); step > 0; --step) {
            const Origin& origin = origins_[static_cast<size_t>(at)];
            result_.choices[static_cast<size_t>(order_[step - 1])] = origin.choice;
            at = origin.parent;
        }
    }

    const SearchGraph& graph_;
    const std::vector<int>& order_;
    std::vector<FormSets>& sets_;
    std::vector<BoxTrees>& trees_;
    Objective objective_;
    const std::vector<Cut>& cuts_;
    SweepOptions options_;
    std::vector<int> first_;  ///< step at which each value is touched
    std::vector<int> last_;
    std::vector<int> open_;    ///< values of which something is decided, not all
    std::vector<int> opened_;  ///< the same before the last operator
    std::vector<Origin> origins_;
    std::vector<Label> found_;    ///< of extend()
    std::vector<double> bounds_;  ///< of extend()
    std::vector<uint64_t> key_;
    SweepResult result_;
};

}  // namespace

SweepResult sweep(const SearchGraph& graph, const std::vector<int>& order, std::vector<FormSets>& sets,
                  std::vector<BoxTrees>& trees, const Objective& objective, const std::vector<Cut>& cuts,
                  const SweepOptions& options) {
    return Sweep(graph, order, sets, trees, objective, cuts, options).run();
}

}  // namespace tessera::distribution
