// Products that read one tensor, such as queries, keys and values or the two halves of a gated layer, are
// slices of one product with the concatenated constants:
//
//     x W1 = (x [W1 W2])[:, :n]        x W2 = (x [W1 W2])[:, n:]
//
// Any set of siblings is joined, in the graph's order of its constants, if its first and its last one lie
// close together in that order: all sets of n siblings would be 2^n.
#include <algorithm>
#include <map>
#include <set>

#include "search/rules/algebra/families.h"
#include "search/rules/algebra/permutation.h"

namespace tessera::rules {
namespace {

using egraph::Attributes;
using egraph::bound;
using egraph::EGraph;
using egraph::hole;
using egraph::Match;
using egraph::Operator;
using egraph::Rule;
using egraph::TermId;
using Labels = std::vector<int64_t>;
using Numbers = std::vector<int64_t>;

/// The most siblings from the first to the last one of a set: eight sets begin with each sibling.
constexpr size_t kReach = 4;

std::optional<TermId> leaf_of(const EGraph& graph, TermId term) {
    for (const TermId node : graph.nodes(graph.find(term)))
        if (std::holds_alternative<egraph::Leaf>(graph.op(node).what)) return node;
    return {};
}

/// True if the operator is the product of the match, except for the constant.
bool is_alike(const std::optional<Attributes>& other, const Match& m) {
    return other && std::ranges::all_of(*other, [&](const auto& attribute) {
               const auto& [name, value] = attribute;
               return m.attributes.at(name == "result" ? "type" : name) == value;
           });
}

/// The constants of all products that read the operand of the matched one, in the graph's order.
std::vector<TermId> siblings(const EGraph& graph, const Match& m, const Families& families) {
    const egraph::ClassId x = graph.find(m["x"]);
    std::map<egraph::OperatorId, bool> known;
    std::set<TermId> leaves;
    for (const TermId node : graph.parents(x)) {
        const egraph::Term& term = graph.term(node);
        if (term.children.size() != 2 || graph.find(term.children[0]) != x) continue;
        const auto leaf =
            graph.facts(term.children[1]).is_constant ? leaf_of(graph, term.children[1]) : std::nullopt;
        if (!leaf) continue;
        const auto [alike, is_new] = known.try_emplace(term.op);
        if (is_new) alike->second = is_alike(families.product->recognise(graph.op(term.op)), m);
        if (alike->second) leaves.insert(*leaf);
    }
    return {leaves.begin(), leaves.end()};
}

/// The axis of both constants that only the result shares, and along which they may differ.
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

/// The operator of the family over these terms, with the policies of another type; empty if there is none.
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

/// The concatenation of constants of one type except for the extent along an axis.
struct Joined {
    TermId constant;
    size_t axis = 0;
    int64_t begin = 0;  ///< of the matched product's constant along the axis
};

/// Empty if the constants do not fit.
std::optional<Joined> joined(EGraph& graph, const Match& m, const Families& families,
                             const std::vector<TermId>& set, TermId own) {
    const auto type_of = [&](TermId term) { return graph.facts(term).types.front(); };
    std::optional<size_t> axis;
    Joined all{.constant = set.front()};
    for (size_t i = 1; i < set.size(); ++i) {
        const TensorType before = type_of(all.constant);
        const auto along = joined_axis(m, before, type_of(set[i]));
        if (!along || axis.value_or(*along) != *along) return {};
        axis = along;
        if (set[i] == own) all.begin = before.shape[*axis].factor;
        const auto both =
            made(graph, families.concat, {{"axis", static_cast<int64_t>(*axis)}}, {all.constant, set[i]});
        if (!both) return {};
        all.constant = *both;
    }
    all.axis = *axis;
    return all;
}

/// The matched product as a slice of the one with all constants of the set.
std::optional<TermId> slice_of(EGraph& graph, const Match& m, const Families& families,
                               const std::vector<TermId>& set, TermId own) {
    const auto constants = joined(graph, m, families, set, own);
    if (!constants) return {};
    // Earlier matches of this round may have joined the class with another.
    const TensorType whole = graph.facts(EGraph::any_term(m.root)).types.front();
    const auto product = made(graph, families.product,
                              {{"a", m.attributes.at("a")},
                               {"b", m.attributes.at("b")},
                               {"rank", m.attributes.at("rank")},
                               {"post", m.attributes.at("post")},
                               {"result", m.attributes.at("type")},
                               {"accumulator", m.attributes.at("accumulator")}},
                              {m["x"], constants->constant}, whole);
    if (!product) return {};
    Numbers start(whole.shape.size(), 0);
    start[static_cast<size_t>(m.attribute<Labels>("b")[constants->axis])] = constants->begin;
    return made(graph, families.slice,
                {{"start", start}, {"step", Numbers(start.size(), 1)}, {"shape", whole.shape}}, {*product},
                whole);
}

/// One slice for each set that the matched product belongs to.
std::vector<TermId> slices(EGraph& graph, const Match& m, const Families& families) {
    const auto own = leaf_of(graph, m["w"]);
    if (!own) return {};
    const std::vector<TermId> all = siblings(graph, m, families);
    const auto at = static_cast<size_t>(std::ranges::find(all, *own) - all.begin());
    std::vector<TermId> found;
    for (size_t first = at < kReach ? 0 : at + 1 - kReach; first <= at; ++first) {
        const size_t others = std::min(kReach, all.size() - first) - 1;
        for (size_t chosen = 1; chosen < size_t{1} << others; ++chosen) {
            std::vector<TermId> set = {all[first]};
            for (size_t i = 0; i < others; ++i)
                if ((chosen >> i & 1) != 0) set.push_back(all[first + 1 + i]);
            if (std::ranges::find(set, *own) == set.end()) continue;
            if (const auto slice = slice_of(graph, m, families, set, *own)) found.push_back(*slice);
        }
    }
    return found;
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
    return {
        {.rule = Rule({.name = "join-siblings",
                       .from = product_of(families, bound("a"), bound("b"), hole("x"),
                                          hole("w", &egraph::ClassFacts::is_constant)),
                       .to = [families](EGraph& graph, const Match& m) -> std::vector<TermId> {
                           return slices(graph, m, families);
                       }}),
         .exactness = Exactness::kExact,
         .example = Example(kExample)},
    };
}

}  // namespace tessera::rules
