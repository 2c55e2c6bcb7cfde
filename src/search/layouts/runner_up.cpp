#include "search/layouts/runner_up.h"

#include <algorithm>
#include <map>
#include <set>

#include "search/layouts/components.h"
#include "search/rules/vectorize/pack.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

using egraph::ClassId;
using egraph::TermId;
using extraction::Choice;

class Makers {
public:
    explicit Makers(const Search& search) : search_(search), values_(values_of_classes(search.graph.egraph)) {
        for (const auto& [value, term] : search.graph.constants) constants_.insert(value_of(term));
    }

    ClassId value_of(TermId term) const { return values_.at(search_.graph.egraph.find(term)); }
    ClassId value_of(int node) const { return value_of(search_.problem.nodes[static_cast<size_t>(node)]); }
    size_t count() const { return search_.problem.nodes.size(); }

    /// Stored forms are made before the step; all other copies are copies.
    bool is_maker(int node) const {
        return constants_.contains(value_of(node)) ||
               !rules::is_pack(search_.graph.egraph.op(search_.problem.nodes[static_cast<size_t>(node)]));
    }
    bool is_chosen(int node, const Choice& choice) const {
        const auto e_class = search_.problem.problem.nodes[static_cast<size_t>(node)].e_class;
        return choice[static_cast<size_t>(e_class)] == node;
    }
    const Layout& layout(int node) const {
        const TermId term = search_.problem.nodes[static_cast<size_t>(node)];
        return search_.graph.egraph.op(term).results.front().layout;
    }

private:
    const Search& search_;
    const std::map<ClassId, ClassId> values_;
    std::set<ClassId> constants_;  ///< values
};

int maker(const Makers& makers, ClassId value, const Choice& choice) {
    for (int i = 0; i < static_cast<int>(makers.count()); ++i)
        if (makers.value_of(i) == value && makers.is_maker(i) && makers.is_chosen(i, choice)) return i;
    return -1;
}

}  // namespace

int maker_of(const Search& search, ClassId value, const Choice& choice) {
    return maker(Makers(search), value, choice);
}

extraction::Result runner_up(const Search& search, ClassId value, const extraction::Options& options) {
    const Makers makers(search);
    const int chosen = maker(makers, value, search.result.choice);
    TESSERA_CHECK(chosen >= 0, "value {}", value.index);
    extraction::Problem problem = search.problem.problem;
    const int nothing = problem.classes++;  // a class without nodes cannot be computed
    for (int i = 0; i < static_cast<int>(makers.count()); ++i)
        if (makers.value_of(i) == value && makers.is_maker(i) && makers.layout(i) == makers.layout(chosen))
            problem.nodes[static_cast<size_t>(i)].children.push_back(nothing);
    extraction::Result result = extraction::extract(problem, options);
    if (!result.choice.empty()) result.choice.pop_back();
    return result;
}

std::vector<Change> changes(const Search& search, const Choice& from, const Choice& to) {
    const Makers makers(search);
    std::map<ClassId, Change> made;
    std::vector<ClassId> order;
    std::vector<Change> copies;
    for (int i = 0; i < static_cast<int>(makers.count()); ++i) {
        const bool was = makers.is_chosen(i, from), is = makers.is_chosen(i, to);
        if (was == is) continue;
        const ClassId value = makers.value_of(i);
        if (!makers.is_maker(i)) {
            copies.push_back({value, was ? i : -1, is ? i : -1});
            continue;
        }
        const auto [change, is_new] = made.try_emplace(value, Change{value, -1, -1});
        if (is_new) order.push_back(value);
        (was ? change->second.before : change->second.after) = i;
    }
    std::vector<Change> all;
    for (const ClassId value : order) all.push_back(made.at(value));
    all.insert(all.end(), copies.begin(), copies.end());
    return all;
}

}  // namespace tessera::layouts
