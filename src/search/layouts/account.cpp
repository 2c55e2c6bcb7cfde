#include "search/layouts/account.h"

#include <algorithm>
#include <map>
#include <set>

#include "search/layouts/components.h"
#include "search/layouts/form_text.h"
#include "search/layouts/runner_up.h"
#include "search/rules/vectorize/pack.h"

namespace tessera::layouts {
namespace {

using egraph::ClassId;
using egraph::TermId;

class Accountant {
public:
    Accountant(const Search& search, const std::vector<ValueForms>& values, const ValueForms& value)
        : search_(search), value_(value), value_of_(values_of_classes(search.graph.egraph)) {
        for (const ValueForms& each : values) names_.emplace(each.value, &each);
    }

    Account run(const extraction::Options& options) {
        const extraction::Choice& choice = search_.result.choice;
        account_.maker = used(maker_of(search_, value_.value, choice));
        account_.layout = account_.maker.layout;
        for (int i = 0; i < static_cast<int>(search_.problem.nodes.size()); ++i)
            if (choice[static_cast<size_t>(search_.problem.problem.nodes[static_cast<size_t>(i)].e_class)] ==
                i)
                add_reader_or_copy(i);
        account_.runner_up = runner_up(search_, value_.value, options);
        if (!account_.runner_up.choice.empty()) compare(account_.runner_up.choice);
        add_impossible();
        return std::move(account_);
    }

private:
    const egraph::EGraph& egraph() const { return search_.graph.egraph; }
    ClassId value_of(TermId term) const { return value_of_.at(egraph().find(term)); }

    UsedForm used(int node) const {
        const TermId term = search_.problem.nodes[static_cast<size_t>(node)];
        const FormCost& cost = search_.costs[static_cast<size_t>(node)];
        UsedForm form{.layout = egraph().op(term).results.front().layout,
                      .form = form_text(egraph(), term),
                      .by = cost.by,
                      .seconds = cost.seconds};
        if (const auto named = names_.find(value_of(term)); named != names_.end()) {
            form.tensor = named->second->tensors.front();
            form.made_by = named->second->made_by;
            form.at = named->second->at;
        }
        return form;
    }

    void add_reader_or_copy(int node) {
        const TermId term = search_.problem.nodes[static_cast<size_t>(node)];
        const bool is_copy = value_of(term) == value_.value;
        if (is_copy) {
            if (value_.at && rules::is_pack(egraph().op(term))) account_.copies.push_back(used(node));
            return;
        }
        std::set<ClassId> read;  // once each, although an operator may square a value
        for (const TermId child : egraph().term(term).children) {
            if (value_of(child) != value_.value || !read.insert(egraph().find(child)).second) continue;
            account_.readers.push_back(used(node));
            account_.readers.back().layout = egraph().facts(child).types.front().layout;
        }
    }

    void compare(const extraction::Choice& other) {
        account_.other_layout = used(maker_of(search_, value_.value, other)).layout;
        const auto form = [&](int node) { return node < 0 ? std::nullopt : std::optional(used(node)); };
        for (const Change& change : changes(search_, search_.result.choice, other))
            account_.changes.emplace_back(form(change.before), form(change.after));
    }

    void add_impossible() {
        std::set<std::pair<std::string, std::string>> known;
        for (const auto& [term, cost] : search_.impossible) {
            const bool is_own = value_of(term) == value_.value;
            const std::vector<TermId>& children = egraph().term(term).children;
            const bool is_reader = !is_own && std::ranges::any_of(children, [&](TermId child) {
                return value_of(child) == value_.value;
            });
            // The stored forms that exist do not depend on their readers.
            if (!is_reader && !(is_own && value_.at)) continue;
            std::pair<std::string, std::string> entry{form_text(egraph(), term), cost.why_infinite};
            if (known.insert(entry).second) account_.impossible.push_back(std::move(entry));
        }
    }

    const Search& search_;
    const ValueForms& value_;
    const std::map<ClassId, ClassId> value_of_;
    std::map<ClassId, const ValueForms*> names_;
    Account account_;
};

}  // namespace

Account account_of(const Search& search, const std::vector<ValueForms>& values, const ValueForms& value,
                   const extraction::Options& options) {
    return Accountant(search, values, value).run(options);
}

}  // namespace tessera::layouts
