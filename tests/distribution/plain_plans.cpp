#include "distribution/plain_plans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/core.h>

namespace tessera::distribution {
namespace {

using Kind = Sbp::Kind;
using Forms = std::set<Form>;

/// The rules on boxes, word by word: seconds of the box, or nothing.
class Rules {
public:
    explicit Rules(const Problem& problem) : problem_(problem) {}

    int64_t divided_by(const Form& form, int without = -1) const {
        int64_t by = 1;
        for (size_t l = 0; l < form.size(); ++l)
            if (form[l].kind == Kind::kSplit && static_cast<int>(l) != without)
                by *= problem_.placement.levels[l].count;
        return by;
    }
    bool is_there(const Value& value, const Form& form) const {
        if (problem_.cut == facts::Cut::kRagged) return has_parts(value, form);
        std::map<int, int64_t> by;
        for (size_t l = 0; l < form.size(); ++l)
            if (form[l].kind == Kind::kSplit)
                by.try_emplace(form[l].axis, 1).first->second *= problem_.placement.levels[l].count;
        return std::ranges::all_of(by, [&](const auto& axis) {
            return axis.first < static_cast<int>(value.shape.size()) &&
                   value.shape[static_cast<size_t>(axis.first)] % axis.second == 0;
        });
    }
    /// True if every device of every group has at least one grain.
    bool has_parts(const Value& value, const Form& form) const {
        for (size_t a = 0; a < value.shape.size(); ++a) {
            std::vector<int64_t> sizes{value.shape[a]};
            for (size_t l = 0; l < form.size(); ++l) {
                if (form[l] != split(static_cast<int>(a), form[l].grain)) continue;
                std::vector<int64_t> parts;
                for (const int64_t size : sizes) {
                    const int64_t grains = size / form[l].grain, count = problem_.placement.levels[l].count;
                    if (size % form[l].grain != 0 || grains < count) return false;
                    for (int64_t j = 0; j < count; ++j)
                        parts.push_back((grains / count + (j < grains % count)) * form[l].grain);
                }
                sizes = parts;
            }
        }
        return true;
    }
    double bytes(const Value& value, const Form& form, int without = -1) const {
        double whole = bits(value.type) / 8.0;
        for (const int64_t extent : value.shape) whole *= static_cast<double>(extent);
        return whole / static_cast<double>(divided_by(form, without));
    }

    /// Bytes of the device with the most; ragged parts are counted in whole units.
    double held_bytes(const Value& value, const Form& form) const {
        return problem_.cut == facts::Cut::kRagged ? problem_.bytes(problem_.units(value, form))
                                                   : bytes(value, form);
    }

    std::optional<double> box_seconds(const Value& value, const Form& from, const Form& to) const {
        int changed = -1;
        for (size_t l = 0; l < from.size(); ++l)
            if (from[l] != to[l]) {
                if (changed >= 0) return std::nullopt;
                changed = static_cast<int>(l);
            }
        if (changed < 0 || !is_there(value, to)) return std::nullopt;
        const auto at = static_cast<size_t>(changed);
        if (value.only_slices && from[at] != broadcast()) return std::nullopt;
        const Sbp weights = partial(Monoid::kSoftmaxSum);
        if (std::ranges::find(from, weights) != from.end() &&
            (std::ranges::find(from, weights) != from.begin() + changed || to[at] != broadcast()))
            return std::nullopt;
        for (size_t l = at + 1; l < from.size(); ++l)
            for (const Sbp& other : {from[at], to[at]})
                if (from[l].kind == Kind::kSplit && other.kind == Kind::kSplit && from[l].axis == other.axis)
                    return std::nullopt;
        const Level& level = problem_.placement.levels[at];
        const auto p = static_cast<double>(level.count);
        const double s = bytes(value, from, changed);
        const double a = level.latency;
        const double b = level.seconds_per_byte;
        if (to[at].kind == Kind::kPartial) return std::nullopt;
        const bool to_all = to[at].kind == Kind::kBroadcast;
        if (from[at].kind == Kind::kBroadcast) return 0;
        if (from[at].kind == Kind::kPartial) return (to_all ? 2 : 1) * (p - 1) * (a + b * s / p);
        return (p - 1) * (to_all ? a + b * s / p : a + b * s / (p * p));
    }

    /// B, every axis, and the grains that choices ask for.
    std::vector<Sbp> entries(const Value& value) const {
        std::set<Sbp> all{broadcast()};
        for (int axis = 0; axis < static_cast<int>(value.shape.size()); ++axis) all.insert(split(axis));
        const auto asked = asked_.find(value.name);
        if (asked != asked_.end()) all.insert(asked->second.begin(), asked->second.end());
        return {all.begin(), all.end()};
    }
    void ask(const Value& value, const Form& form) {
        for (const Sbp& entry : form)
            if (entry.kind == Kind::kSplit) asked_[value.name].insert(entry);
    }

    std::vector<Form> every_form(const Value& value) const {
        std::vector<Form> all{{}};
        for (size_t l = 0; l < problem_.placement.rank(); ++l) {
            std::vector<Form> more;
            for (const Form& outer : all)
                for (const Sbp& entry : entries(value)) {
                    more.push_back(outer);
                    more.back().push_back(entry);
                }
            all = std::move(more);
        }
        std::erase_if(all, [&](const Form& form) { return !is_there(value, form); });
        return all;
    }

    static Form ended(Form form) {
        std::ranges::replace(form, partial(Monoid::kSoftmaxSum), broadcast());
        return form;
    }

private:
    const Problem& problem_;
    std::map<std::string, std::set<Sbp>> asked_;
};

std::vector<PlainSum> front_of(std::vector<PlainSum> sums) {
    std::ranges::sort(sums, [](const PlainSum& a, const PlainSum& b) {
        return a.seconds != b.seconds ? a.seconds < b.seconds : a.units < b.units;
    });
    std::vector<PlainSum> kept;
    for (const PlainSum& sum : sums)
        if (kept.empty() || sum.units < kept.back().units) kept.push_back(sum);
    return kept;
}

class Enumeration {
public:
    explicit Enumeration(const Problem& problem) : problem_(problem), rules_(problem) {
        for (const Operator& op : problem.operators) {
            choices_.push_back(derive_choices(problem, op));
            for (const Choice& choice : choices_.back())
                for (size_t t = 0; t < op.values.size(); ++t)
                    rules_.ask(problem.values[static_cast<size_t>(op.values[t])], choice.forms[t]);
        }
    }

    std::vector<PlainSum> run() {
        choose(0);
        return front_of(std::move(plans_));
    }

private:
    void choose(size_t op) {
        if (op == choices_.size()) return add_up();
        for (const Choice& choice : choices_[op]) {
            chosen_.push_back(&choice);
            choose(op + 1);
            chosen_.pop_back();
        }
    }

    void add_up() {
        double seconds = 0;
        for (const Choice* choice : chosen_) seconds += choice->seconds;
        std::vector<PlainSum> sums{{seconds, 0}};
        for (size_t v = 0; v < problem_.values.size(); ++v) {
            const Value& value = problem_.values[v];
            std::optional<Form> first = value.given;
            Forms needed;
            if (value.wanted) needed.insert(*value.wanted);
            for (size_t o = 0; o < chosen_.size(); ++o)
                for (size_t t = 0; t < problem_.operators[o].values.size(); ++t) {
                    if (problem_.operators[o].values[t] != static_cast<int>(v)) continue;
                    if (value.maker == static_cast<int>(o))
                        first = chosen_[o]->forms[t];
                    else
                        needed.insert(chosen_[o]->forms[t]);
                }
            std::vector<PlainSum> more;
            for (const PlainSum& tree : trees(v, first, needed))
                for (const PlainSum& sum : sums)
                    more.push_back({sum.seconds + tree.seconds, sum.units + tree.units});
            sums = front_of(std::move(more));
        }
        plans_.insert(plans_.end(), sums.begin(), sums.end());
        if (plans_.size() > 10'000) plans_ = front_of(std::move(plans_));
    }

    const std::vector<PlainSum>& trees(size_t v, const std::optional<Form>& first, const Forms& needed) {
        const auto [at, is_new] = trees_.try_emplace({v, first, needed});
        if (!is_new) return at->second;
        const Value& value = problem_.values[v];
        std::vector<PlainSum> found;
        for (const Form& root : first ? std::vector<Form>{*first} : rules_.every_form(value)) {
            Forms goal = needed;
            goal.insert(Rules::ended(root));
            const Holdings& all = holdings(v, root);
            size_t asked = 0;
            bool is_possible = true;
            for (const Form& form : goal) {
                const auto i = static_cast<size_t>(std::ranges::find(all.forms, form) - all.forms.begin());
                is_possible = is_possible && i < all.forms.size();
                if (is_possible) asked |= size_t{1} << i;
            }
            for (size_t held = 0; is_possible && held < all.seconds.size(); ++held) {
                if ((held & asked) != asked || std::isinf(all.seconds[held])) continue;
                PlainSum sum{all.seconds[held], 0};
                for (size_t i = 0; i < all.forms.size(); ++i)
                    if ((held >> i & 1U) != 0 && (i == 0 || !value.is_constant || !value.only_slices))
                        sum.units += problem_.units(value, all.forms[i]);
                found.push_back(sum);
            }
        }
        return at->second = front_of(std::move(found));
    }

    // Every set of forms that boxes can make of the root, with the least seconds: each set form by form.
    struct Holdings {
        std::vector<Form> forms;      ///< the root first
        std::vector<double> seconds;  ///< for each set of them; infinity if no boxes make it
    };
    const Holdings& holdings(size_t v, const Form& root) {
        const auto [at, is_new] = holdings_.try_emplace({v, root});
        Holdings& all = at->second;
        if (!is_new) return all;
        const Value& value = problem_.values[v];
        all.forms = targets_of(value, root);
        all.forms.insert(all.forms.begin(), root);
        const size_t forms = all.forms.size();
        std::vector<std::vector<std::optional<double>>> boxes(forms);
        for (size_t from = 0; from < forms; ++from)
            for (size_t to = 0; to < forms; ++to)
                boxes[from].push_back(rules_.box_seconds(value, all.forms[from], all.forms[to]));
        all.seconds.assign(size_t{1} << forms, std::numeric_limits<double>::infinity());
        all.seconds[1] = 0;
        for (size_t held = 1; held < all.seconds.size(); held += 2)
            for (size_t from = 0; from < forms && !std::isinf(all.seconds[held]); ++from)
                for (size_t to = 0; to < forms; ++to) {
                    if ((held >> from & 1U) == 0 || (held >> to & 1U) != 0 || !boxes[from][to]) continue;
                    double& seconds = all.seconds[held | size_t{1} << to];
                    seconds = std::min(seconds, all.seconds[held] + *boxes[from][to]);
                }
        return all;
    }

    std::vector<Sbp> entries_with(const Value& value, const Sbp& root) const {
        std::vector<Sbp> all = rules_.entries(value);
        if (root.kind == Kind::kPartial) all.push_back(root);
        return all;
    }

    // Forms without P, and what is left of partial entries of the root.
    std::vector<Form> targets_of(const Value& value, const Form& root) const {
        std::vector<Form> all{{}};
        for (size_t l = 0; l < root.size(); ++l) {
            std::vector<Form> more;
            for (const Form& outer : all)
                for (const Sbp& entry : entries_with(value, root[l])) {
                    more.push_back(outer);
                    more.back().push_back(entry);
                }
            all = std::move(more);
        }
        std::erase_if(all, [&](const Form& form) { return form == root || !rules_.is_there(value, form); });
        return all;
    }

    const Problem& problem_;
    Rules rules_;
    std::vector<std::vector<Choice>> choices_;
    std::vector<const Choice*> chosen_;
    std::map<std::tuple<size_t, std::optional<Form>, Forms>, std::vector<PlainSum>> trees_;
    std::map<std::pair<size_t, Form>, Holdings> holdings_;
    std::vector<PlainSum> plans_;
};

}  // namespace

bool is_near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::abs(b) + 1e-18;
}

std::vector<std::string> violations(const Problem& problem, const DistributionPlan& plan) {
    std::vector<std::string> found;
    const Rules rules(problem);
    double seconds = 0;
    double memory = 0;
    for (const Choice& choice : plan.operators) seconds += choice.seconds;
    for (size_t v = 0; v < problem.values.size(); ++v) {
        const Value& value = problem.values[v];
        const ValuePlan& made = plan.values[v];
        const auto complain = [&](const std::string& what) { found.push_back(value.name + " " + what); };
        Forms held{made.made};
        memory += rules.held_bytes(value, made.made);
        if (!rules.is_there(value, made.made)) complain("cannot lie as " + text(made.made));
        if (value.given && made.made != *value.given) complain("is given in another form");
        for (const Box& box : made.boxes) {
            const auto price = rules.box_seconds(value, box.from, box.to);
            if (!held.contains(box.from)) complain("has no source " + text(box.from));
            if (!held.insert(box.to).second) complain("is made twice as " + text(box.to));
            if (!price || !is_near(box.seconds, *price)) complain("has a wrong box to " + text(box.to));
            seconds += box.seconds;
            if (!value.is_constant || !value.only_slices) memory += rules.held_bytes(value, box.to);
        }
        if (!held.contains(Rules::ended(made.made))) complain("stays partial");
        if (value.wanted && !held.contains(*value.wanted)) complain("is wanted as " + text(*value.wanted));
        for (size_t o = 0; o < problem.operators.size(); ++o)
            for (size_t t = 0; t < problem.operators[o].values.size(); ++t) {
                if (problem.operators[o].values[t] != static_cast<int>(v)) continue;
                const Form& form = plan.operators[o].forms[t];
                if (value.maker == static_cast<int>(o) ? form != made.made : !held.contains(form))
                    complain("is not there as " + text(form));
            }
    }
    if (!is_near(plan.seconds, seconds)) found.push_back(fmt::format("takes {} s", seconds));
    if (!is_near(problem.bytes(plan.units), memory)) found.push_back(fmt::format("holds {} bytes", memory));
    return found;
}

std::vector<PlainSum> enumerate(const Problem& problem) {
    return Enumeration(problem).run();
}

}  // namespace tessera::distribution
