// Products that read one tensor, such as queries, keys and values or the two halves of a gated layer, are
// slices of one product with the constants behind each other:
//
//     x W1 = (x [W1 W2])[:, :n]        x W2 = (x [W1 W2])[:, n:]
//
// A product of two constants is a sibling of the third, so any number come together. Each set of siblings is
// joined in one order, the one in which the graph names its constants: what is joined grows by one constant
// that stands behind all of its own.
#include <algorithm>

#include "rules/algebra/families.h"
#include "rules/algebra/permutation.h"

namespace tessera::rules {
namespace {

using egraph::apply;
using egraph::Attribute;
using egraph::Attributes;
using egraph::bound;
using egraph::EGraph;
using egraph::hole;
using egraph::Match;
using egraph::Operator;
using egraph::Pattern;
using egraph::Rule;
using egraph::TermId;
using Labels = std::vector<int64_t>;
using Numbers = std::vector<int64_t>;

std::optional<TermId> leaf_of(const EGraph& graph, TermId term) {
    for (const TermId node : graph.nodes(graph.find(term)))
        if (std::holds_alternative<egraph::Leaf>(graph.op(node).what)) return node;
    return {};
}

/// The last of the constants of which the term is made: itself, or behind the others.
std::optional<TermId> last_constant(const EGraph& graph, const egraph::FamilyPtr& concat, TermId term) {
    if (const auto leaf = leaf_of(graph, term)) return leaf;
    for (const TermId node : graph.nodes(graph.find(term)))
        if (concat->recognise(graph.op(node))) return leaf_of(graph, graph.term(node).children[1]);
    return {};
}

/// The axis of both constants that only the result has beside them, and along which they may differ.
std::optional<size_t> joined_axis(const Match& m, const TensorType& first, const TensorType& second) {
    const Labels &a = m.attribute<Labels>("a"), &b = m.attribute<Labels>("b");
    for (size_t axis = 0; axis < b.size(); ++axis) {
        const bool is_free =
            b[axis] < m.attribute<int64_t>("rank") && std::find(a.begin(), a.end(), b[axis]) == a.end();
        std::vector<Dim> shape = first.shape;
        if (shape.size() != b.size() || second.shape.size() != b.size()) return {};
        shape[axis] = second.shape[axis];
        if (is_free && shape == second.shape) return axis;
    }
    return {};
}

/// The operator of the family over these terms, with the policies of another type; empty where there is none.
std::optional<TermId> made(EGraph& graph, const egraph::FamilyPtr& family, const Attributes& attributes,
                           const std::vector<TermId>& children,
                           const std::optional<TensorType>& policies = {}) {
    std::vector<TensorType> types;
    for (const TermId child : children) types.push_back(graph.facts(child).types.front());
    std::optional<Operator> op = family->make(attributes, types);
    if (!op) return {};
    if (policies) {
        op->results.front().rounding = policies->rounding;
        op->results.front().accumulator = policies->accumulator;
    }
    return graph.add(*op, children);
}

enum class Place { kFirst, kSecond };

/// The product of the pattern, which has the constant `w` at this place, as a slice of both.
std::optional<TermId> slice_of_both(EGraph& graph, const Match& m, const Families& families, Place place) {
    const TermId first = m["w"], second = m["v"];
    const TensorType one = graph.facts(first).types.front(), other = graph.facts(second).types.front();
    const auto axis = joined_axis(m, one, other);
    if (!axis) return {};
    // Earlier matches of this round may have joined the class with another.
    const TensorType whole = graph.facts(EGraph::any_term(m.root)).types.front();
    const auto both = made(graph, families.concat, {{"axis", static_cast<int64_t>(*axis)}}, {first, second});
    if (!both) return {};
    const auto product = made(graph, families.product,
                              {{"a", m.attributes.at("a")},
                               {"b", m.attributes.at("b")},
                               {"rank", m.attributes.at("rank")},
                               {"post", m.attributes.at("post")},
                               {"result", m.attributes.at("type")},
                               {"accumulator", m.attributes.at("accumulator")}},
                              {m["x"], *both}, whole);
    if (!product) return {};
    Numbers start(whole.shape.size(), 0);
    const auto along = static_cast<size_t>(m.attribute<Labels>("b")[*axis]);
    if (place == Place::kSecond) start[along] = one.shape[*axis].factor;
    return made(graph, families.slice,
                {{"start", start}, {"step", Numbers(start.size(), 1)}, {"shape", whole.shape}}, {*product},
                whole);
}

constexpr const char* kExample = R"(graph "siblings"
symbol T in 1..6
input x: f32[2, T, 5]
constant w: bf16[2, 4, 5] from "w"
constant v: bf16[2, 3, 5] from "v"
value y: f32[T, 2, 4]
value z: f32[T, 2, 3]
block body
  node y(x, w) -> y
    op first(t: T, h: 2, n: 4, k*: 5)
    dim T in 1..6
    in X f32[h, t, k]
    in W bf16[h, n, k]
    out Y f32[t, h, n] = sum(X * W) * 0.5
  node z(x, v) -> z
    op second(t: T, h: 2, n: 3, k*: 5)
    dim T in 1..6
    in X f32[h, t, k]
    in W bf16[h, n, k]
    out Y f32[t, h, n] = sum(X * W) * 0.5
output y, z
)";

}  // namespace

std::vector<RuleEntry> sibling_rules(const Families& families) {
    const auto product = [&](const std::string& constant) {
        return product_of(families, bound("a"), bound("b"), hole("x"),
                          hole(constant, &egraph::ClassFacts::is_constant));
    };
    const auto are_in_order = [concat = families.concat](const EGraph& graph, const Match& m) {
        const auto last = last_constant(graph, concat, m["w"]), next = leaf_of(graph, m["v"]);
        return last && next && *last < *next;
    };
    const auto slice = [families](Place place) -> egraph::Construct {
        return [families, place](EGraph& graph, const Match& m) {
            return slice_of_both(graph, m, families, place);
        };
    };
    return {
        {.rule = Rule({.name = "first-of-siblings",
                       .from = product("w"),
                       .beside = product("v"),
                       .to = slice(Place::kFirst),
                       .condition = are_in_order}),
         .exactness = Exactness::kExact,
         .example = Example(kExample)},
        {.rule = Rule({.name = "second-of-siblings",
                       .from = product("v"),
                       .beside = product("w"),
                       .to = slice(Place::kSecond),
                       .condition = are_in_order}),
         .exactness = Exactness::kExact,
         .example = Example(kExample)},
    };
}

}  // namespace tessera::rules
