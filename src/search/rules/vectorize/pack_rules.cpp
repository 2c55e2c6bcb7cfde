#include "search/rules/vectorize/pack_rules.h"

#include <algorithm>

#include "search/rules/vectorize/pack.h"

namespace tessera::rules {
namespace {

using egraph::ClassId;
using egraph::EGraph;
using egraph::Match;
using egraph::Operator;
using egraph::TermId;

const TensorType& type_of(const EGraph& graph, TermId term) {
    return graph.facts(term).types.front();
}

/// Structured operators with one result that is not a state's, except packs.
egraph::FamilyPtr packable() {
    return std::make_shared<egraph::OperatorFamily>(egraph::OperatorFamily{
        .name = "packable", .recognise = [](const Operator& op) -> std::optional<egraph::Attributes> {
            if (!op.definition() || op.updates || op.results.size() != 1 || is_pack(op)) return std::nullopt;
            return egraph::Attributes{};
        }});
}

/// The term in this layout. Its equality with the unpacked form is stated at once, so that all its readers
/// see the packed forms.
TermId packed(EGraph& graph, TermId term, const Layout& layout, const PackRuleOptions& options) {
    const TensorType& type = type_of(graph, term);
    if (type.layout == layout) return term;
    const Operator there = pack_operator(type, layout, options.symbols);
    const Operator back = pack_operator(there.results.front(), type.layout, options.symbols);
    const TermId made = graph.add(there, {term});
    graph.unite(term, graph.add(back, {made}), "unpack-packed");
    return made;
}

constexpr const char* kOperands = "operands";

const Operator& operator_of(const EGraph& graph, const Match& match) {
    return graph.op(match.operators.front());
}
const std::vector<TermId>& operands_of(const Match& match) {
    return match.lists.at(kOperands);
}

class Forms {
public:
    Forms(EGraph& graph, const Match& match, const PackRuleOptions& options)
        : graph_(graph), op_(operator_of(graph, match)), children_(operands_of(match)), options_(options) {}

    /// True if all operands and results are row-major: other operators are forms already.
    bool is_plain() const {
        return op_.results.front().layout.is_row_major() && std::ranges::all_of(children_, [&](TermId child) {
                   return type_of(graph_, child).layout.is_row_major();
               });
    }

    void add(const Form& form) {
        if (std::ranges::find(forms_, form) == forms_.end()) forms_.push_back(form);
    }

    /// Packs constants only: other operands stay row-major.
    void add_for_constants(Form form) {
        for (size_t i = 0; i < children_.size(); ++i)
            form.operands[i] = graph_.facts(children_[i]).is_constant
                                   ? simplified(form.operands[i], type_of(graph_, children_[i]).shape)
                                   : Layout{};
        add({form.operands, {}});
    }

    /// Adds the packing for all operands, for constants alone, and with the result.
    void add(const std::vector<Packing>& packing) {
        const Definition& definition = *op_.definition();
        const auto layout = [&](size_t tensor, const TensorType& type) {
            return layout_of(definition, static_cast<int>(tensor), packing[tensor], type.shape);
        };
        Form whole, constants;
        for (size_t i = 0; i < children_.size(); ++i) {
            whole.operands.push_back(layout(i, type_of(graph_, children_[i])));
            constants.operands.push_back(graph_.facts(children_[i]).is_constant ? whole.operands.back()
                                                                                : Layout{});
        }
        add({whole.operands, {}});
        add(constants);
        const auto result = static_cast<size_t>(definition.results().front());
        whole.result = layout(result, op_.results.front());
        add(whole);
    }

    /// The forms: unpacked, each equals the operator.
    std::vector<TermId> make() {
        const Operator plain = op_;
        std::vector<TermId> made;
        for (const Form& form : forms_) {
            std::vector<TermId> operands;
            for (size_t i = 0; i < children_.size(); ++i)
                operands.push_back(packed(graph_, children_[i], form.operands[i], options_));
            Operator op = plain;
            op.results.front().layout = form.result;
            const TermId in_form = graph_.add(op, std::move(operands));
            made.push_back(
                form.result.is_row_major()
                    ? in_form
                    : graph_.add(pack_operator(op.results.front(), {}, options_.symbols), {in_form}));
        }
        return made;
    }

private:
    EGraph& graph_;
    const Operator op_;
    const std::vector<TermId> children_;
    const PackRuleOptions& options_;
    std::vector<Form> forms_;
};

/// Other layouts in which a row-major term exists: those of the unpacked terms in its class.
std::vector<Layout> packed_layouts(const EGraph& graph, TermId term) {
    std::vector<Layout> found;
    for (const TermId node : graph.nodes(graph.find(term))) {
        if (!is_pack(graph.op(node))) continue;
        const Layout& layout = type_of(graph, graph.term(node).children.front()).layout;
        if (!layout.is_row_major() && std::ranges::find(found, layout) == found.end())
            found.push_back(layout);
    }
    return found;
}

std::vector<Packing> for_all_tensors(const Definition& definition, const Packing& packing) {
    return std::vector<Packing>(definition.tensors.size(), packing);
}

/// All packs, whatever their layout.
egraph::FamilyPtr packs() {
    return std::make_shared<egraph::OperatorFamily>(egraph::OperatorFamily{
        .name = "pack", .recognise = [](const Operator& op) -> std::optional<egraph::Attributes> {
            if (!is_pack(op)) return std::nullopt;
            return egraph::Attributes{};
        }});
}

bool is_found_by_index(const Definition& definition, int tensor) {
    const auto all = accesses(definition, tensor);
    return std::ranges::any_of(all, [](const auto& access) {
        return std::ranges::any_of(access, [](const ExprPtr& component) { return is_indirect(component); });
    });
}

/// The input of a rule on operators.
struct Plain {
    const EGraph& graph;
    const Operator& op;
    const Definition& definition;
    const std::vector<TermId>& operands;
    TermId result;
};

/// A rule that adds forms to an operator on row-major tensors.
egraph::Rule form_rule(std::string name, const PackRuleOptions& options,
                       std::function<void(const Plain&, Forms&)> add) {
    return egraph::Rule(
        {.name = std::move(name),
         .from = egraph::apply_to_all(packable(), {}, kOperands),
         .to = [options, add = std::move(add)](EGraph& graph, const Match& match) -> std::vector<TermId> {
             Forms forms(graph, match, options);
             if (!forms.is_plain()) return {};
             const Operator& op = operator_of(graph, match);
             add({graph, op, *op.definition(), operands_of(match), EGraph::any_term(match.root)}, forms);
             return forms.make();
         }});
}

}  // namespace

egraph::Rule meta_pack(const PackRuleOptions& options) {
    return form_rule("meta-pack", options, [options](const Plain& plain, Forms& forms) {
        for (const OperatorPacking& packing : packings_for(plain.definition, options.units))
            forms.add(packing.tensors);
        if (!options.more_forms) return;
        for (const Form& form : options.more_forms(plain.op)) forms.add_for_constants(form);
    });
}

egraph::Rule pass_through(const PackRuleOptions& options) {
    return form_rule("pass-through", options, [](const Plain& plain, Forms& forms) {
        for (size_t i = 0; i < plain.operands.size(); ++i) {
            if (plain.graph.facts(plain.operands[i]).is_constant) continue;
            for (const Layout& layout : packed_layouts(plain.graph, plain.operands[i])) {
                const auto packing = packing_of(plain.definition, static_cast<int>(i), layout);
                if (packing) forms.add(for_all_tensors(plain.definition, *packing));
            }
        }
    });
}

egraph::Rule write_as_read(const PackRuleOptions& options) {
    return form_rule("write-as-read", options, [](const Plain& plain, Forms& forms) {
        for (const Layout& layout : packed_layouts(plain.graph, plain.result)) {
            forms.add({std::vector<Layout>(plain.operands.size()), layout});
            if (const auto packing = packing_of(plain.definition, plain.definition.results().front(), layout))
                forms.add(for_all_tensors(plain.definition, *packing));
            if (plain.operands.size() != 1) continue;
            for (const Layout& operand : packed_layouts(plain.graph, plain.operands.front()))
                forms.add({{operand}, layout});
        }
    });
}

egraph::Rule read_as_stored(const PackRuleOptions& options) {
    return form_rule("read-as-stored", options, [](const Plain& plain, Forms& forms) {
        std::vector<Form> all = {{std::vector<Layout>(plain.operands.size()), {}}};
        for (size_t i = 0; i < plain.operands.size(); ++i) {
            if (!plain.graph.facts(plain.operands[i]).is_constant ||
                !is_found_by_index(plain.definition, static_cast<int>(i)))
                continue;
            const size_t before = all.size();
            for (const Layout& layout : packed_layouts(plain.graph, plain.operands[i])) {
                for (size_t f = 0; f < before; ++f) {
                    all.push_back(all[f]);
                    all.back().operands[i] = layout;
                }
            }
        }
        for (size_t f = 1; f < all.size(); ++f) forms.add(all[f]);
    });
}

egraph::Rule fold_packs(const PackRuleOptions& options) {
    return egraph::Rule(
        {.name = "fold-packs",
         .from = egraph::apply_to_all(packs(), {}, kOperands),
         .to = [options](EGraph& graph, const Match& match) -> std::vector<TermId> {
             const Layout layout = operator_of(graph, match).results.front().layout;
             const std::vector<TermId> inner = graph.nodes(graph.find(operands_of(match).front()));
             std::vector<TermId> made;
             for (const TermId node : inner) {
                 if (!is_pack(graph.op(node))) continue;
                 const TermId from = graph.term(node).children.front();
                 const TensorType type = type_of(graph, from);
                 made.push_back(type.layout == layout
                                    ? from
                                    : graph.add(pack_operator(type, layout, options.symbols), {from}));
             }
             return made;
         }});
}

std::vector<egraph::Rule> pack_rules(const PackRuleOptions& options) {
    return {meta_pack(options), pass_through(options), write_as_read(options), read_as_stored(options),
            fold_packs(options)};
}

}  // namespace tessera::rules
