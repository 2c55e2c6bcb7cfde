#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "distribution/search_graph.h"

/// The boxes of one value: the cheapest trees that make all forms that are asked for out of the first one.
namespace tessera::distribution {

/// The price of a plan, or of a part of one.
struct Price {
    double seconds = 0;
    int64_t units = 0;  ///< memory
};

/// A weighted sum is minimised, or both counts: then every price counts that no other one beats in both.
struct Objective {
    double per_second = 1;
    double per_unit = 0;
    bool both = false;

    double of(const Price& price) const {
        return per_second * price.seconds + per_unit * static_cast<double>(price.units);
    }
};

/// Adds a price to those that count, ascending by the objective, and takes out those that no longer do. If
/// prices differ by rounding errors alone, the one with less memory counts. @return true if this one counts
bool add_price(std::vector<Price>& prices, const Price& price, const Objective& objective);

/// A set of forms, as a position in its FormSets; 0 is the empty one.
using SetId = int32_t;

/// The sets of forms of one value that were asked for so far.
class FormSets {
public:
    FormSets() { (void)intern({}); }

    SetId intern(std::vector<FormId> ascending);
    SetId with(SetId set, FormId form);
    /// Ascending. References stay valid.
    const std::vector<FormId>& operator[](SetId set) const { return sets_[static_cast<size_t>(set)].forms; }
    /// Its subsets: bit i of the position stands for the i-th form.
    const std::vector<SetId>& subsets(SetId set);

private:
    struct Entry {
        std::vector<FormId> forms;
        std::map<FormId, SetId> larger;  ///< memo of with()
        std::vector<SetId> subsets;      ///< memo of subsets()
    };
    std::deque<Entry> sets_;
    std::map<std::vector<FormId>, SetId> ids_;
};

class BoxTrees {
public:
    /// @pre `cluster` and `sets` outlive this
    BoxTrees(const Cluster& cluster, FormSets& sets, const Objective& objective);

    /// Trees of boxes from the first form (kFree: the best one for each) to all of the set, all forms counted
    /// with their memory. Empty if there is none. The reference lasts until the next call.
    const std::vector<Price>& prices(FormId first, SetId set);
    /// The first form and the boxes of a tree that costs no more than this price. @pre prices() has it
    struct Tree {
        FormId first;
        std::vector<Cluster::Edge> boxes;  ///< each source is there before
    };
    Tree tree(FormId first, SetId set, const Price& price);

private:
    using Row = std::vector<std::vector<Price>>;  ///< for each root

    SetId goal(FormId first, SetId set);
    Price alone(FormId form) const { return {0, cluster_->units[static_cast<size_t>(form)]}; }
    const Row& below(SetId set);
    void spread(Row& row) const;
    void grow(FormId root, SetId set, const Price& price, std::vector<Cluster::Edge>& boxes);

    const Cluster* cluster_;
    FormSets* sets_;
    Objective objective_;
    std::vector<std::vector<Cluster::Edge>> leaving_;  ///< boxes from each form
    std::map<SetId, Row> below_;                       ///< prices of all forms but the root
    std::map<std::pair<FormId, SetId>, std::vector<Price>> prices_;
};

}  // namespace tessera::distribution
