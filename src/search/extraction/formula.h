#pragma once

#include <map>
#include <utility>
#include <vector>

#include "search/extraction/instance.h"
#include "search/extraction/max_sat.h"
#include "search/extraction/sat.h"

namespace tessera::extraction {

/// An instance as clauses: y_c, class c is computed; x_n, node n is chosen. Acyclicity of the choice is not
/// encoded; models with a cycle are cut off when they occur, which on real e-graphs is rare.
class Formula {
public:
    Formula(const Instance& instance, Sat& sat);

    const std::vector<Soft>& softs() const { return softs_; }
    Weight base() const { return base_; }

    /// The choice that the solver's model stands for, computed classes only; empty where it has a cycle that
    /// a root needs, after clauses have been added that exclude it.
    std::optional<Incumbent> read_model();

private:
    void add_class(int e_class);
    void add_support(const std::vector<int>& classes);
    void add_at_most_one(std::vector<int> literals);
    std::vector<int> derive(Choice& choice) const;
    void exclude(const std::vector<int>& underived, const Choice& choice);
    Instance dependencies(const std::vector<int>& underived, const Choice& choice) const;
    void cut_cycles(const Instance& dependent, const std::vector<int>& underived);
    void demand_ways_out(const Instance& dependent, const std::vector<int>& underived);
    int edge(int from, int to);

    int y(int e_class) const { return y_[static_cast<size_t>(e_class)]; }
    int x(int node) const { return x_[static_cast<size_t>(node)]; }

    const Instance& instance_;
    Sat& sat_;
    std::vector<int> classes_;  ///< that occur
    std::vector<int> y_, x_;    ///< variables; 0 for classes and nodes that do not occur
    std::map<std::pair<int, int>, int> edges_;
    std::vector<Soft> softs_;
    Weight base_ = 0;
};

}  // namespace tessera::extraction
