#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "distribution/box_trees.h"

/// Least prices of trees of boxes where it is open in which form a reader reads: each reader names a price
/// for each form.
namespace tessera::distribution {

/// One number for each form of a value.
using Costs = std::vector<double>;

/// The tables of one value under one weighted sum.
class PriceTables {
public:
    /// @pre the cluster outlives this
    PriceTables(const Cluster& cluster, const Objective& objective);

    /// For each set of readers (a mask) and each form the least price of a tree below it that serves them,
    /// its own memory aside.
    std::vector<Costs> inside(std::span<const Costs> readers) const;
    /// For each set of readers and each form the least price of all else: the tree that serves the other
    /// readers, down to this form. `roots`: the price of each first form.
    std::vector<Costs> outside(const std::vector<Costs>& inside, const Costs& roots) const;

    /// The price of a first form by itself, and the form at which its trees begin: behind the boxes that end
    /// its P(softmax_sum).
    double alone(FormId first) const { return alone_[static_cast<size_t>(first)]; }
    FormId root(FormId first) const { return cluster_->ended[static_cast<size_t>(first)]; }
    const Cluster& cluster() const { return *cluster_; }

    /// Lets every root begin with boxes.
    void spread_up(Costs& costs) const { spread(costs, sources_); }

private:
    /// A box seen from one of its ends, with the memory of what it makes.
    struct Neighbour {
        FormId form;
        double price;
    };
    using Neighbours = std::vector<std::vector<Neighbour>>;  ///< of each form
    static void spread(Costs& costs, const Neighbours& neighbours);

    Neighbours sources_;
    Neighbours targets_;
    Costs alone_;
    const Cluster* cluster_;
};

/// The same beside readers that have decided.
class OpenTables {
public:
    OpenTables(const PriceTables& tables, FormSets& sets, std::vector<Costs> readers);

    /// For each root the least price of a tree that makes the forms asked for and serves all open readers.
    const Costs& prices(SetId asked);

private:
    using Row = std::vector<Costs>;  ///< for each mask of readers
    const Row& row(SetId asked);

    const PriceTables* tables_;
    FormSets* sets_;
    std::vector<Costs> readers_;
    std::unordered_map<SetId, Row> rows_;
};

}  // namespace tessera::distribution
