// From the nodes that were chosen to a plan. A value lies as the chosen form of its operator makes
// it; a reader that wants it otherwise in some specialisation reads a copy, which in the others is a view.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "search/layouts/choose_layouts.h"
#include "search/layouts/components.h"
#include "search/planner/grouping.h"
#include "search/rules/vectorize/pack.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

using egraph::ClassId;
using egraph::TermId;

/// One for each specialisation.
using Layouts = std::vector<Layout>;

bool is_row_major(const Layouts& layouts) {
    return std::ranges::all_of(layouts, [](const Layout& layout) { return layout.is_row_major(); });
}

class Deciding {
public:
    Deciding(const Graph& graph, const plan::Plan& initial, const Search& search)
        : graph_(graph),
          search_(search),
          selection_(egraph::selection_of(search.problem, search.result.choice)),
          values_(values_of_classes(search.graph.egraph)),
          out_(initial) {
        for (const auto& [e_class, term] : selection_)
            if (!rules::is_pack(egraph().op(term))) makers_[values_.at(e_class)] = term;
    }

    plan::Plan run() {
        store_constants();
        for (const Block& block : graph_.blocks) decide(block);
        return std::move(out_);
    }

private:
    const egraph::EGraph& egraph() const { return search_.graph.egraph; }
    size_t specialisations() const { return search_.graph.values.size(); }

    void store_constants() {
        std::map<ClassId, Layout> stored;
        for (const auto& [e_class, term] : selection_)
            stored[values_.at(e_class)] = egraph().op(term).results.front().layout;
        for (const auto& [value, term] : search_.graph.constants) {
            const auto found = stored.find(values_.at(egraph().find(term)));
            if (found == stored.end()) continue;  // nothing reads it
            out_.stored.erase(graph_[value].name);
            if (!found->second.is_row_major()) out_.stored[graph_[value].name] = found->second;
        }
    }

    /// The node's form; null where it is not searched, or not needed.
    const egraph::Term* form_of(ValueId result, size_t specialisation) const {
        const TermId plain = search_.graph.values[specialisation].at(result);
        if (!egraph().op(plain).definition()) return nullptr;
        const auto maker = makers_.find(values_.at(egraph().find(plain)));
        return maker == makers_.end() ? nullptr : &egraph().term(maker->second);
    }

    Layouts made_in(ValueId result) const {
        Layouts layouts(specialisations());
        for (size_t s = 0; s < layouts.size(); ++s)
            if (const egraph::Term* form = form_of(result, s))
                layouts[s] = egraph().op(form->op).results.front().layout;
        return layouts;
    }

    Layouts read_in(ValueId result, size_t operand) const {
        Layouts layouts(specialisations());
        for (size_t s = 0; s < layouts.size(); ++s)
            if (const egraph::Term* form = form_of(result, s))
                layouts[s] = egraph().facts(form->children[operand]).types.front().layout;
        return layouts;
    }

    void decide(const Block& block) {
        const planner::BlockView view(graph_, block);
        copies_.clear();
        for (const Node& node : block.nodes) {
            const bool is_searched =
                node.results.size() == 1 &&
                egraph().op(search_.graph.values[0].at(node.results.front())).definition();
            for (size_t i = 0; i < node.operands.size(); ++i) {
                const ValueId operand = node.operands[i];
                if (graph_[operand].kind == ValueKind::kConstant || graph_[operand].kind == ValueKind::kState)
                    continue;
                const Layouts wanted =
                    is_searched ? read_in(node.results.front(), i) : Layouts(specialisations());
                read(operand, wanted, {node.name, node.definition()->tensors[i].name});
            }
            if (is_searched) make(node.results.front(), view.escapes(node.results.front()));
        }
    }

    /// Values that other blocks see are row-major, so these see a copy.
    void make(ValueId value, bool is_seen) {
        const Layouts made = made_in(value);
        if (is_row_major(made)) return;
        if (!is_seen) {
            lies_[value] = made;
            for (size_t s = 0; s < made.size(); ++s)
                if (!made[s].is_row_major())
                    plan(s, graph_[value].name, {.place = plan::Place::kArena, .layout = made[s]});
            return;
        }
        const std::string name = new_copy(value, {.of = graph_[value].name, .readers = {}, .is_made = true});
        copies_[value].emplace_back(made, name);
        for (size_t s = 0; s < made.size(); ++s) {
            const bool is_same = made[s].is_row_major();
            plan(s, name, {.place = plan::Place::kArena, .layout = made[s]});
            if (is_output(value)) continue;
            plan(s, graph_[value].name,
                 is_same ? plan::TensorPlan{.place = plan::Place::kView, .of = name}
                         : plan::TensorPlan{.place = plan::Place::kArena});
        }
    }

    void read(ValueId value, const Layouts& wanted, plan::CopyReader reader) {
        const auto known = lies_.find(value);
        const Layouts lies = known == lies_.end() ? Layouts(specialisations()) : known->second;
        if (lies == wanted) return;
        auto& copies = copies_[value];
        for (const auto& [layouts, copy] : copies) {
            if (layouts != wanted) continue;
            out_.copies.at(copy).readers.push_back(std::move(reader));
            return;
        }
        const std::string name = new_copy(value, {.of = graph_[value].name, .readers = {std::move(reader)}});
        copies.emplace_back(wanted, name);
        for (size_t s = 0; s < wanted.size(); ++s)
            plan(s, name,
                 wanted[s] == lies[s]
                     ? plan::TensorPlan{.place = plan::Place::kView, .of = graph_[value].name}
                     : plan::TensorPlan{.place = plan::Place::kArena, .layout = wanted[s]});
    }

    std::string new_copy(ValueId value, plan::CopyPlan copy) {
        std::string name;
        for (int i = 1;; ++i) {
            name = fmt::format("{}_packed{}", graph_[value].name, i == 1 ? "" : std::to_string(i));
            if (!graph_.find(name) && !out_.copies.contains(name)) break;
        }
        out_.copies.emplace(name, std::move(copy));
        return name;
    }

    void plan(size_t specialisation, const std::string& name, plan::TensorPlan tensor) {
        out_.specialisations[specialisation].tensors[name] = std::move(tensor);
    }

    bool is_output(ValueId value) const {
        return std::ranges::find(graph_.outputs, value) != graph_.outputs.end();
    }

    const Graph& graph_;
    const Search& search_;
    const egraph::Selection selection_;
    const std::map<ClassId, ClassId> values_;
    std::map<ClassId, TermId> makers_;
    plan::Plan out_;
    std::map<ValueId, Layouts> lies_;  ///< all other values are row-major
    std::map<ValueId, std::vector<std::pair<Layouts, std::string>>> copies_;  ///< in the block
};

}  // namespace

plan::Plan decision_of(const Graph& graph, const plan::Plan& initial, const Search& search) {
    return Deciding(graph, initial, search).run();
}

}  // namespace tessera::layouts
