#include "distribution/price_tables.h"

#include <algorithm>
#include <bit>

#include "support/error.h"

// As in box_trees.cpp, with readers in place of forms: a reader is served at any form, for the price that it
// names there. That is the group Steiner problem, and costs 3^readers instead of forms^readers. The outside
// of a set of readers at a form is what the inside of the whole loses without that subtree, as in the
// inside-outside algorithm of parsing; it gives the least price for every form of every reader at once.

namespace tessera::distribution {
namespace {

void lower(double& least, double value) {
    if (value < least) least = value;
}

// costs[f] = min(costs[f], a[f] + b[f])
void lower_by_sum(Costs& costs, const Costs& a, const Costs& b) {
    for (size_t f = 0; f < costs.size(); ++f) lower(costs[f], a[f] + b[f]);
}

}  // namespace

PriceTables::PriceTables(const Cluster& cluster, const Objective& objective)
    : sources_(cluster.forms.size()),
      targets_(cluster.forms.size()),
      alone_(cluster.forms.size()),
      cluster_(&cluster) {
    for (const Cluster::Edge& edge : cluster.boxes) {
        const double price = objective.of({edge.seconds, edge.units});
        sources_[static_cast<size_t>(edge.to)].push_back({edge.from, price});
        targets_[static_cast<size_t>(edge.from)].push_back({edge.to, price});
    }
    for (size_t first = 0; first < alone_.size(); ++first) {
        auto at = static_cast<FormId>(first);
        alone_[first] = objective.of({0, cluster.units[first]});
        while (cluster.ended[first] != at) {
            const std::vector<Neighbour>& made = targets_[static_cast<size_t>(at)];
            TESSERA_CHECK(made.size() == 1, "partial weights with {} boxes", made.size());
            alone_[first] += made[0].price;
            at = made[0].form;
        }
    }
}

// Looks again at the forms whose costs have changed, until none has.
void PriceTables::spread(Costs& costs, const Neighbours& neighbours) {
    std::vector<uint8_t> changed(costs.size(), 1);
    for (bool any = true; any;) {
        any = false;
        for (size_t f = 0; f < costs.size(); ++f) {
            if (changed[f] == 0) continue;
            changed[f] = 0;
            const double cost = costs[f];
            if (cost == kInfinity) continue;
            for (const Neighbour& next : neighbours[f]) {
                double& least = costs[static_cast<size_t>(next.form)];
                if (cost + next.price >= least) continue;
                least = cost + next.price;
                changed[static_cast<size_t>(next.form)] = 1;
                any = true;
            }
        }
    }
}

std::vector<Costs> PriceTables::inside(std::span<const Costs> readers) const {
    const size_t forms = alone_.size();
    std::vector<Costs> table(size_t{1} << readers.size(), Costs(forms, kInfinity));
    table[0].assign(forms, 0);
    for (size_t mask = 1; mask < table.size(); ++mask) {
        if ((mask & (mask - 1)) == 0) table[mask] = readers[static_cast<size_t>(std::countr_zero(mask))];
        const size_t lowest = mask & (~mask + 1);
        // One part holds the lowest reader, so that each pair of parts comes once.
        for (size_t part = (mask - 1) & mask; part > 0; part = (part - 1) & mask)
            if ((part & lowest) != 0) lower_by_sum(table[mask], table[part], table[mask ^ part]);
        spread_up(table[mask]);
    }
    return table;
}

std::vector<Costs> PriceTables::outside(const std::vector<Costs>& inside, const Costs& roots) const {
    std::vector<Costs> table(inside.size(), Costs(alone_.size(), kInfinity));
    for (size_t first = 0; first < roots.size(); ++first) {
        if (roots[first] == kInfinity) continue;
        const auto form = static_cast<FormId>(first);
        lower(table.back()[static_cast<size_t>(root(form))], roots[first] + alone(form));
    }
    for (size_t mask = table.size() - 1; mask > 0; --mask) {
        spread(table[mask], targets_);
        for (size_t part = (mask - 1) & mask; part > 0; part = (part - 1) & mask)
            lower_by_sum(table[part], table[mask], inside[mask ^ part]);
    }
    return table;
}

OpenTables::OpenTables(const PriceTables& tables, FormSets& sets, std::vector<Costs> readers)
    : tables_(&tables), sets_(&sets), readers_(std::move(readers)) {
    rows_.emplace(0, tables.inside(readers_));
}

const Costs& OpenTables::prices(SetId asked) {
    return row(asked).back();
}

const OpenTables::Row& OpenTables::row(SetId asked) {
    if (const auto known = rows_.find(asked); known != rows_.end()) return known->second;
    const std::vector<FormId>& forms = (*sets_)[asked];
    const std::vector<SetId>& subsets = sets_->subsets(asked);
    std::vector<const Row*> parts;
    for (size_t subset = 0; subset + 1 < subsets.size(); ++subset) parts.push_back(&row(subsets[subset]));
    Row made(rows_.at(0).size(), Costs(rows_.at(0)[0].size(), kInfinity));
    parts.push_back(&made);
    if (forms.size() == 1) made[0][static_cast<size_t>(forms[0])] = 0;
    const size_t all = subsets.size() - 1;
    for (size_t mask = 0; mask < made.size(); ++mask) {
        // The first part holds the first form, so that each pair of parts comes once.
        for (size_t subset = 1; subset <= all; subset += 2)
            for (size_t part = mask;; part = (part - 1) & mask) {
                if (subset != all || part != mask)
                    lower_by_sum(made[mask], (*parts[subset])[part], (*parts[all ^ subset])[mask ^ part]);
                if (part == 0) break;
            }
        tables_->spread_up(made[mask]);
    }
    return rows_.emplace(asked, std::move(made)).first->second;
}

}  // namespace tessera::distribution
