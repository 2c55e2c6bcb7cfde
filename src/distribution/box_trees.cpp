#include "distribution/box_trees.h"

#include <algorithm>
#include <limits>

#include "support/error.h"

// Dreyfus and Wagner, The Steiner problem in graphs (1971), on a directed graph: the best tree below a root
// that reaches a set is either a box to another root, or two trees of the same root that reach one part of
// the set each.
//
//   below(f, {})     nothing
//   below(f, S)      below(f, S - f)                      f itself is asked for
//                    below(f, A) + below(f, S - A)        two trees
//                    f -> g, and below(g, S)              a box, g is held
//
// A form that both trees make is counted twice here, but then another tree holds strictly less. The table of
// a set serves every root, and every larger set.

namespace tessera::distribution {
namespace {

// Prices within this of each other differ by the order of additions alone.
constexpr double kRounding = 1e-12;

Price operator+(const Price& a, const Price& b) {
    return {a.seconds + b.seconds, a.units + b.units};
}

}  // namespace

bool add_price(std::vector<Price>& prices, const Price& price, const Objective& objective) {
    const double value = objective.of(price);
    const double slack = std::abs(value) * kRounding;
    if (!objective.both && !prices.empty()) {
        Price& best = prices[0];
        const double least = objective.of(best);
        const bool is_better = value < least - slack || (value <= least + slack && price.units < best.units);
        if (is_better) best = price;
        return is_better;
    }
    for (const Price& other : prices)
        if (other.units <= price.units && objective.of(other) <= value + slack) return false;
    std::erase_if(prices, [&](const Price& other) {
        return other.units >= price.units && objective.of(other) >= value - slack;
    });
    const auto at =
        std::ranges::find_if(prices, [&](const Price& other) { return objective.of(other) > value; });
    prices.insert(at, price);
    return true;
}

SetId FormSets::intern(std::vector<FormId> ascending) {
    const auto [at, is_new] = ids_.try_emplace(std::move(ascending), static_cast<SetId>(sets_.size()));
    if (is_new) sets_.push_back({at->first, {}, {}});
    return at->second;
}

SetId FormSets::with(SetId set, FormId form) {
    Entry& entry = sets_[static_cast<size_t>(set)];
    const auto known = entry.larger.find(form);
    if (known != entry.larger.end()) return known->second;
    std::vector<FormId> forms = entry.forms;
    const auto at = std::ranges::lower_bound(forms, form);
    if (at == forms.end() || *at != form) forms.insert(at, form);
    const SetId larger = intern(std::move(forms));
    entry.larger.emplace(form, larger);
    return larger;
}

const std::vector<SetId>& FormSets::subsets(SetId set) {
    Entry& entry = sets_[static_cast<size_t>(set)];
    if (!entry.subsets.empty()) return entry.subsets;
    if (entry.forms.empty()) return entry.subsets = {set};
    const FormId last = entry.forms.back();
    std::vector<SetId> all = subsets(intern(std::vector<FormId>(entry.forms.begin(), entry.forms.end() - 1)));
    const size_t without = all.size();
    for (size_t i = 0; i < without; ++i) all.push_back(with(all[i], last));
    return entry.subsets = std::move(all);
}

BoxTrees::BoxTrees(const Cluster& cluster, FormSets& sets, const Objective& objective)
    : cluster_(&cluster), sets_(&sets), objective_(objective), leaving_(cluster.forms.size()) {
    for (const Cluster::Edge& edge : cluster.boxes) leaving_[static_cast<size_t>(edge.from)].push_back(edge);
}

// The boxes that end P(softmax_sum) must be there, read or not.
SetId BoxTrees::goal(FormId first, SetId set) {
    const FormId ended = cluster_->ended[static_cast<size_t>(first)];
    return ended == first ? set : sets_->with(set, ended);
}

const BoxTrees::Row& BoxTrees::below(SetId set) {
    if (const auto known = below_.find(set); known != below_.end()) return known->second;
    const std::vector<FormId> forms = (*sets_)[set];
    Row row(cluster_->forms.size());
    if (forms.empty()) {
        for (std::vector<Price>& prices : row) prices.push_back({});
        return below_.emplace(set, std::move(row)).first->second;
    }
    const auto add = [&](std::vector<Price>& prices, const Price& price) {
        (void)add_price(prices, price, objective_);
    };
    const std::vector<SetId>& subsets = sets_->subsets(set);
    const size_t all = subsets.size() - 1;
    for (size_t i = 0; i < forms.size(); ++i) {
        const auto f = static_cast<size_t>(forms[i]);
        row[f] = below(subsets[all ^ size_t{1} << i])[f];
    }
    // The last form is always in the second part, so that each pair of parts comes once.
    TESSERA_CHECK(forms.size() < 24, "{} forms of one value", forms.size());
    for (size_t mask = 1; mask < subsets.size() / 2; ++mask) {
        const Row& left = below(subsets[mask]);
        const Row& right = below(subsets[all ^ mask]);
        for (size_t f = 0; f < row.size(); ++f)
            for (const Price& a : left[f])
                for (const Price& b : right[f]) add(row[f], a + b);
    }
    spread(row);
    return below_.emplace(set, std::move(row)).first->second;
}

// Lets every root begin with boxes, until no price changes.
void BoxTrees::spread(Row& row) const {
    std::vector<bool> changed(row.size(), true);
    for (bool any = true; any;) {
        any = false;
        std::vector<bool> next(row.size(), false);
        for (const Cluster::Edge& edge : cluster_->boxes) {
            const auto from = static_cast<size_t>(edge.from);
            const auto to = static_cast<size_t>(edge.to);
            if (!changed[to] && !next[to]) continue;
            const Price made{edge.seconds, edge.units};
            for (const Price& price : row[to])
                if (add_price(row[from], price + made, objective_)) next[from] = any = true;
        }
        changed = std::move(next);
    }
}

const std::vector<Price>& BoxTrees::prices(FormId first, SetId set) {
    const auto [at, is_new] = prices_.try_emplace({first, set});
    if (!is_new) return at->second;
    std::vector<Price> found;
    if (first == kFree) {
        for (const FormId stored : cluster_->storable)
            for (const Price& price : prices(stored, set)) (void)add_price(found, price, objective_);
    } else {
        for (const Price& price : below(goal(first, set))[static_cast<size_t>(first)])
            found.push_back(price + alone(first));
    }
    at->second = std::move(found);
    return at->second;
}

BoxTrees::Tree BoxTrees::tree(FormId first, SetId set, const Price& price) {
    if (first == kFree) {
        for (const FormId stored : cluster_->storable)
            for (const Price& each : prices(stored, set))
                if (each.units <= price.units &&
                    each.seconds <= price.seconds + std::abs(price.seconds) * kRounding)
                    return tree(stored, set, price);
        TESSERA_CHECK(false, "no stored form has the price");
    }
    Tree found{first, {}};
    grow(first, goal(first, set), {price.seconds, price.units - alone(first).units}, found.boxes);
    // A form that two branches make is made by the first of them.
    std::vector<bool> held(cluster_->forms.size(), false);
    held[static_cast<size_t>(first)] = true;
    std::erase_if(found.boxes, [&](const Cluster::Edge& edge) {
        const bool is_there = held[static_cast<size_t>(edge.to)];
        held[static_cast<size_t>(edge.to)] = true;
        return is_there;
    });
    return found;
}

// Finds which of the three ways has the price, with some slack for what rounding has dropped.
void BoxTrees::grow(FormId root, SetId set, const Price& price, std::vector<Cluster::Edge>& boxes) {
    const std::vector<FormId> forms = (*sets_)[set];
    if (forms.empty()) return;
    const auto r = static_cast<size_t>(root);
    const double seconds = price.seconds + std::abs(price.seconds) * kRounding;
    const auto fits = [&](const Price& each) { return each.units <= price.units && each.seconds <= seconds; };
    const std::vector<SetId> subsets = sets_->subsets(set);
    const size_t all = subsets.size() - 1;
    if (const auto at = std::ranges::find(forms, root); at != forms.end()) {
        const SetId rest = subsets[all ^ size_t{1} << (at - forms.begin())];
        for (const Price& each : below(rest)[r])
            if (fits(each)) return grow(root, rest, each, boxes);
    }
    for (const Cluster::Edge& edge : leaving_[r])
        for (const Price& each : below(set)[static_cast<size_t>(edge.to)])
            if (fits(each + Price{edge.seconds, edge.units})) {
                boxes.push_back(edge);
                return grow(edge.to, set, each, boxes);
            }
    for (size_t mask = 1; mask < subsets.size() / 2; ++mask) {
        const SetId left = subsets[mask];
        const SetId right = subsets[all ^ mask];
        const std::vector<Price> lefts = below(left)[r];
        const std::vector<Price> rights = below(right)[r];
        for (const Price& a : lefts)
            for (const Price& b : rights)
                if (fits(a + b)) {
                    grow(root, left, a, boxes);
                    return grow(root, right, b, boxes);
                }
    }
    TESSERA_CHECK(false, "no tree has the price");
}

}  // namespace tessera::distribution
