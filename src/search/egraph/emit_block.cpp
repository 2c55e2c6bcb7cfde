// A class becomes a value, and an e-node a node of the block. Values of the old block keep their identity
// while their class is computed. If the classes of two values have become one, so do the values, and all uses
// name that one. Outputs, the value carried out and states also have names that others use: if several are in
// one class, one is computed, and the others are copies.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "ir/ops/copy.h"
#include "search/egraph/block_terms.h"
#include "support/error.h"

namespace tessera::egraph {
namespace {

class Emission {
public:
    Emission(const Graph& graph, size_t block, const EGraph& egraph, const BlockTerms& terms,
             const Selection& selection)
        : before_(graph),
          result_(graph),
          block_(block),
          egraph_(egraph),
          terms_(terms),
          selection_(selection) {}

    Graph run() {
        for (const Node& node : old_block().nodes)
            for (const ValueId result : node.results) {
                made_before_.insert(result);
                old_values_.emplace(egraph_.find(terms_.values.at(result)), result);
            }
        for (const CopiedValue& copy : copied_values(before_, block_, egraph_, terms_))
            copies_.emplace(copy.value, copy.of);
        for (const ValueId kept : kept_values(before_, block_))
            if (!copies_.contains(kept)) old_values_[egraph_.find(terms_.values.at(kept))] = kept;
        for (const auto& [value, term] : terms_.values) {
            if (made_before_.contains(value)) continue;
            values_.emplace(egraph_.find(term), value);  // values that the block reads exist already
        }
        take_names();
        new_block().nodes.clear();
        const std::vector<ValueId> needed = needed_values(before_, block_);
        for (const ValueId value : needed) mark_needed(egraph_.find(terms_.values.at(value)));
        // First the remaining values, in their order; then new ones, each before its first reader.
        for (const Node& node : old_block().nodes)
            for (const ValueId result : node.results)
                if (const ClassId e_class = egraph_.find(terms_.values.at(result)); needed_.contains(e_class))
                    emit(e_class);
        for (const ValueId value : needed) emit(egraph_.find(terms_.values.at(value)));
        for (const auto& [value, of] : copies_) add_copy(value, of);
        check_made();
        rename_users();
        drop_unmade();
        return std::move(result_);
    }

private:
    const Block& old_block() const { return before_.blocks[block_]; }
    Block& new_block() { return result_.blocks[block_]; }

    TermId selected(ClassId e_class) const {
        const auto found = selection_.find(e_class);
        TESSERA_CHECK(found != selection_.end(), "class {} of {} has no selected node", e_class.index,
                      label(egraph_.op(EGraph::any_term(e_class))));
        return found->second;
    }

    void take_names() {
        for (const Value& value : before_.values) value_names_.insert(value.name);
        for (size_t i = 0; i < before_.blocks.size(); ++i)
            for (const Node& node : before_.blocks[i].nodes) {
                node_names_.insert(node.name);
                if (i == block_)
                    for (const ValueId result : node.results) node_of_.emplace(result, &node);
            }
    }

    /// Checks that a value that is carried out or kept as a state is one of the block itself.
    void check_made() const {
        const auto check = [&](ValueId value) {
            const ClassId e_class = egraph_.find(terms_.values.at(value));
            TESSERA_CHECK(needed_.contains(e_class), "{} is a value that the block reads",
                          before_[value].name);
        };
        if (old_block().carried_out) check(*old_block().carried_out);
        for (const StateUpdate& update : old_block().states) check(update.after);
    }

    void mark_needed(ClassId root) {
        std::vector<ClassId> open = {root};
        while (!open.empty()) {
            const ClassId e_class = open.back();
            open.pop_back();
            if (values_.contains(e_class) || !needed_.insert(e_class).second) continue;
            for (const TermId child : egraph_.term(selected(e_class)).children)
                open.push_back(egraph_.find(child));
        }
    }

    static std::string unused(std::set<std::string>& names, const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    /// The block's value of this class, or a new one.
    ValueId value_for(ClassId e_class, const std::string& name, const TensorType& type) {
        const auto old = old_values_.find(e_class);
        return old != old_values_.end() ? old->second : new_value(name, type);
    }
    ValueId new_value(const std::string& name, const TensorType& type) {
        result_.values.push_back({.name = unused(value_names_, name), .type = type});
        return {static_cast<int>(result_.values.size()) - 1};
    }

    ValueId emit(ClassId e_class) {
        if (const auto known = values_.find(e_class); known != values_.end()) return known->second;
        TESSERA_CHECK(open_.insert(e_class).second, "class {} needs itself", e_class.index);
        const TermId chosen = selected(e_class);
        const Operator& op = egraph_.op(chosen);
        TESSERA_CHECK(!std::holds_alternative<Leaf>(op.what), "{} is not made in the block", label(op));
        if (std::holds_alternative<Projection>(op.what)) {
            emit_results(egraph_.find(egraph_.term(chosen).children.front()));
        } else {
            const ValueId value = value_for(e_class, label(op), op.results.front());
            emit_node(chosen, {value});
            values_.emplace(e_class, value);
        }
        open_.erase(e_class);
        return values_.at(e_class);
    }

    /// The node of a class of several results, with a value for each of them.
    void emit_results(ClassId tuple) {
        const TermId chosen = selected(tuple);
        const Operator& op = egraph_.op(chosen);
        const std::vector<std::optional<ClassId>> classes = projections_of(tuple, op.results.size());
        std::vector<ValueId> results;
        for (size_t i = 0; i < op.results.size(); ++i) {
            const std::string name = fmt::format("{}_{}", label(op), i);
            results.push_back(classes[i] ? value_for(*classes[i], name, op.results[i])
                                         : new_value(name, op.results[i]));
        }
        emit_node(chosen, results);
        for (size_t i = 0; i < op.results.size(); ++i)
            if (classes[i]) values_.emplace(*classes[i], results[i]);
    }

    /// The class of each result of a tuple, if it is selected, or if it is unused and the block had a value
    /// for it.
    std::vector<std::optional<ClassId>> projections_of(ClassId tuple, size_t count) const {
        std::vector<std::optional<ClassId>> classes(count);
        const auto note = [&](ClassId e_class, TermId node) {
            const auto* projection = std::get_if<Projection>(&egraph_.op(node).what);
            if (projection && egraph_.find(egraph_.term(node).children.front()) == tuple)
                classes[static_cast<size_t>(projection->result)] = e_class;
        };
        for (const ValueId value : made_before_) {
            const TermId term = terms_.values.at(value);
            if (!needed_.contains(egraph_.find(term))) note(egraph_.find(term), term);
        }
        for (const auto& [e_class, node] : selection_) note(e_class, node);
        return classes;
    }

    void emit_node(TermId chosen, std::vector<ValueId> results) {
        const Operator& op = egraph_.op(chosen);
        Node node{.name = {}, .op = Composite{}, .operands = {}, .results = {}, .previous = {}};
        for (const TermId child : egraph_.term(chosen).children)
            node.operands.push_back(emit(egraph_.find(child)));
        if (op.updates) {
            node.previous = node.operands.back();
            node.operands.pop_back();
        }
        node.results = std::move(results);
        // The old definition of this value's node, if it is unchanged: it has names of its own.
        const auto old = node_of_.find(node.results.front());
        const bool is_old = old != node_of_.end() && is_of(*old->second, chosen);
        if (is_old)
            node.op = old->second->op;
        else if (const auto* definition = std::get_if<DefinitionPtr>(&op.what))
            node.op = *definition;
        else
            node.op = std::get<Composite>(op.what);
        node.name = is_old ? old->second->name : unused(node_names_, result_[node.results.front()].name);
        new_block().nodes.push_back(std::move(node));
    }

    void add_copy(ValueId value, ValueId of) {
        new_block().nodes.push_back({.name = unused(node_names_, before_[value].name),
                                     .op = ops::copy(before_.symbols, before_[value].type),
                                     .operands = {of},
                                     .results = {value},
                                     .previous = {}});
    }

    /// True if a node of the block is the chosen e-node.
    bool is_of(const Node& node, TermId chosen) const {
        TermId term = terms_.values.at(node.results.front());
        if (node.results.size() > 1) term = egraph_.term(term).children.front();
        const Term &a = egraph_.term(term), &b = egraph_.term(chosen);
        return a.op == b.op &&
               std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                          [&](TermId x, TermId y) { return egraph_.are_equal(x, y); });
    }

    /// Renames values that another value of their class replaces, in all of the graph.
    void rename_users() {
        const auto rename = [&](ValueId& value) {
            const auto term = terms_.values.find(value);
            if (term == terms_.values.end() || !made_before_.contains(value) || copies_.contains(value))
                return;
            value = values_.at(egraph_.find(term->second));
        };
        for (ValueId& output : result_.outputs) rename(output);
        for (size_t i = 0; i < result_.blocks.size(); ++i) {
            Block& block = result_.blocks[i];
            if (block.carried_in) rename(*block.carried_in);
            if (block.carried_out) rename(*block.carried_out);
            for (StateUpdate& update : block.states) rename(update.after);
            if (i == block_) continue;
            for (Node& node : block.nodes) {
                for (ValueId& operand : node.operands) rename(operand);
                if (node.previous) rename(*node.previous);
            }
        }
    }

    void drop_unmade() {
        std::set<ValueId> unmade = made_before_;
        for (const Node& node : new_block().nodes)
            for (const ValueId result : node.results) unmade.erase(result);
        drop_values(result_, unmade);
    }

    const Graph& before_;
    Graph result_;
    size_t block_;
    const EGraph& egraph_;
    const BlockTerms& terms_;
    const Selection& selection_;
    std::set<ValueId> made_before_;
    /// The value of the class whose name others use, or the first one that the block made.
    std::map<ClassId, ValueId> old_values_;
    std::map<ValueId, ValueId> copies_;  ///< by value, its original
    std::map<ClassId, ValueId> values_;
    std::set<ClassId> needed_, open_;
    std::set<std::string> value_names_, node_names_;
    std::map<ValueId, const Node*> node_of_;
};

}  // namespace

std::vector<ValueId> needed_values(const Graph& graph, size_t index) {
    const Block& block = graph.blocks[index];
    std::vector<ValueId> all = graph.outputs;
    if (block.carried_out) all.push_back(*block.carried_out);
    for (const StateUpdate& update : block.states) all.push_back(update.after);
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
        if (i == index) continue;
        const Block& other = graph.blocks[i];
        if (other.carried_in) all.push_back(*other.carried_in);
        for (const Node& node : other.nodes) {
            all.insert(all.end(), node.operands.begin(), node.operands.end());
            if (node.previous) all.push_back(*node.previous);
        }
    }
    std::set<ValueId> made;
    for (const Node& node : block.nodes) made.insert(node.results.begin(), node.results.end());
    std::erase_if(all, [&](ValueId value) { return !made.contains(value); });
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<ValueId> kept_values(const Graph& graph, size_t index) {
    const Block& block = graph.blocks[index];
    std::vector<ValueId> all;
    for (const StateUpdate& update : block.states) all.push_back(update.after);
    if (block.carried_out) all.push_back(*block.carried_out);
    all.insert(all.end(), graph.outputs.begin(), graph.outputs.end());
    std::set<ValueId> made, seen;
    for (const Node& node : block.nodes) made.insert(node.results.begin(), node.results.end());
    std::erase_if(all, [&](ValueId value) { return !made.contains(value) || !seen.insert(value).second; });
    return all;
}

std::vector<CopiedValue> copied_values(const Graph& graph, size_t block, const EGraph& egraph,
                                       const BlockTerms& terms) {
    std::map<ClassId, ValueId> first;
    std::vector<CopiedValue> copies;
    for (const ValueId value : kept_values(graph, block)) {
        const auto [known, is_first] = first.emplace(egraph.find(terms.values.at(value)), value);
        if (!is_first) copies.push_back({value, known->second});
    }
    return copies;
}

Graph with_block(const Graph& graph, size_t block, const EGraph& egraph, const BlockTerms& terms,
                 const Selection& selection) {
    TESSERA_CHECK(egraph.is_rebuilt() && block < graph.blocks.size());
    return Emission(graph, block, egraph, terms, selection).run();
}

}  // namespace tessera::egraph
