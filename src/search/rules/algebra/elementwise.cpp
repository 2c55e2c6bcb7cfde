// Rules on element-wise maps and the arithmetic of their bodies; docs/rewriting.md states the permitted
// changes.
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/indexed.h"
#include "search/rules/algebra/permutation.h"
#include "search/rules/algebra/simplify.h"

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

std::optional<ElementType> element_of(const Attributes& attributes) {
    return element_type_of(std::get<std::string>(attributes.at("result")));
}

/// True if each value of `from` is one of `holder`.
bool holds_every_value(ElementType holder, ElementType from) {
    if (holder == from) return true;
    if (!is_integer(from)) return holder == ElementType::kF32;
    const IntegerRange values = range(from);
    if (is_integer(holder)) return range(holder).low <= values.low && values.high <= range(holder).high;
    // Integers up to 2^digits are floats of as many digits; none of them leaves the range of F16.
    const int digits = holder == ElementType::kF32 ? 24 : holder == ElementType::kF16 ? 11 : 8;
    return -(int64_t{1} << digits) <= values.low && values.high <= int64_t{1} << digits;
}

/// A rule on the only definition of a match: `change` gives the new definition of the matched operator.
Rule definition_rule(const Families& families, std::string name,
                     std::function<std::optional<Definition>(const Definition&)> change) {
    return Rule(
        {.name = std::move(name),
         .from = egraph::apply_to_all(families.simplifiable, {}, "operands"),
         .to = [change = std::move(change)](EGraph& graph, const Match& match) -> std::optional<TermId> {
             Operator op = graph.op(match.operators.front());
             auto changed = change(*op.definition());
             if (!changed) return {};
             op.what = std::make_shared<const Definition>(*std::move(changed));
             return graph.add(op, match.lists.at("operands"));
         }});
}

std::optional<Definition> with_simple_body(const Definition& definition) {
    Definition simple = definition;
    for (ExprPtr& part : simple.body) part = simplified(part, definition);
    simple.post = simplified(simple.post, definition);
    if (same(simple, definition)) return {};
    return simple;
}

std::optional<Definition> with_scale_behind(const Definition& definition) {
    const bool is_update =
        definition.tensors[static_cast<size_t>(definition.results().front())].role == Role::kUpdate;
    if (definition.monoid != Monoid::kSum || is_update || definition.accumulator != ElementType::kF32)
        return {};
    const auto scale = taken_scale(definition.body.front());
    if (!scale) return {};
    const ExprPtr scaled = tessera::apply(Function::kMul, {folded(), real(scale->second)});
    Definition pulled = definition;
    pulled.body = {scale->first};
    pulled.post = definition.post ? with_folded(definition.post, scaled) : scaled;
    return pulled;
}

constexpr const char* kDoingNothing = R"(graph "doing_nothing"
symbol T in 1..8
input x: f32[T, 3]
input n: i8[T, 3]
value y: f32[T, 3]
block body
  node y(x, n) -> y
    op much(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    in N i8[t, d]
    out Y f32[t, d] = abs(-(-(-(X * 1 - 0)))) / 1 + max(N + 0, 0 + N) * (1 * (X + 0))
output y
)";

constexpr const char* kScaledSum = R"(graph "scaled_sum"
symbol T in 1..8
input x: f32[T, 5]
input w: f16[4, 5]
input b: f32[4]
value y: f32[T, 4]
block body
  node y(x, w, b) -> y
    op scaled(t: T, n: 4, k*: 5)
    dim T in 1..8
    in X f32[t, k]
    in W f16[n, k]
    in B f32[n]
    out Y f32[t, n] = sum(X * W * 0.125) + B
output y
)";

}  // namespace

egraph::FamilyPtr elementwise_maps(Symbols symbols, size_t operands) {
    const auto recognise = [operands](const Operator& op) -> std::optional<Attributes> {
        const auto indexed = recognise_indexed(op);
        if (!indexed || indexed->labels.size() != operands || indexed->monoid != Monoid::kNone) return {};
        for (const auto& labels : indexed->labels)
            if (labels != in_order(static_cast<size_t>(indexed->rank))) return {};
        const bool is_copy = is_bare_read(indexed->body) && indexed->elements.front() == indexed->result;
        if (is_copy || indexed->accumulator != ElementType::kF32) return {};
        return Attributes{{"body", indexed->body}, {"result", std::string(name(indexed->result))}};
    };
    const auto make = [symbols = std::vector(symbols.begin(), symbols.end()), operands](
                          const Attributes& attributes,
                          std::span<const TensorType> types) -> std::optional<Operator> {
        const auto result = element_of(attributes);
        if (!result || types.size() != operands) return {};
        const std::vector<int64_t> labels = in_order(types.front().shape.size());
        return make_indexed("map",
                            {.labels = std::vector(operands, labels),
                             .elements = {},
                             .rank = static_cast<int64_t>(labels.size()),
                             .shape = std::nullopt,
                             .monoid = Monoid::kNone,
                             .body = std::get<Formula>(attributes.at("body")),
                             .post = {},
                             .result = *result,
                             .accumulator = ElementType::kF32},
                            types, symbols);
    };
    return std::make_shared<egraph::OperatorFamily>(egraph::OperatorFamily{
        .name = operands == 1 ? "unary" : "binary", .recognise = recognise, .make = make});
}

egraph::FamilyPtr simplifiable_operators() {
    const auto recognise = [](const Operator& op) -> std::optional<Attributes> {
        const Definition* d = op.definition();
        if (!d || (!with_simple_body(*d) && !with_scale_behind(*d))) return {};
        return Attributes{};
    };
    return std::make_shared<egraph::OperatorFamily>(
        egraph::OperatorFamily{.name = "simplifiable", .recognise = recognise, .make = {}});
}

std::vector<RuleEntry> elementwise_rules(const Families& families) {
    const auto unary = [&](const egraph::AttributePattern& body, const egraph::AttributePattern& result,
                           Pattern x) {
        return apply(families.unary, {{"body", body}, {"result", result}}, {std::move(x)});
    };
    const auto binary = [&](const char* body, Pattern x, Pattern z) {
        return apply(families.binary, {{"body", Attribute(formula(body, 2))}, {"result", bound("type")}},
                     {std::move(x), std::move(z)});
    };
    const auto is_float = [](const egraph::ClassFacts& facts) {
        return facts.types.size() == 1 && !is_integer(facts.types.front().element);
    };
    const Pattern a = hole("a"), b = hole("b");
    const Attribute as_it_is = bare_read(), negated = formula("-X", 1);
    const auto plain = row_major(ElementType::kF32, {Dim("T"), 3});
    const auto half = row_major(ElementType::kF16, {Dim("T"), 3});

    return {
        {.rule = Rule({.name = "fold-two-casts",
                       .from = unary(as_it_is, bound("to"), unary(as_it_is, bound("by"), a)),
                       .to = unary(as_it_is, bound("to"), a),
                       .condition =
                           [](const EGraph& graph, const Match& m) {
                               return holds_every_value(*element_type_of(m.attribute<std::string>("by")),
                                                        graph.facts(m["a"]).types.front().element);
                           }}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", half}}, {{"by", "f32"}, {"to", "bf16"}})},
        {.rule =
             Rule({.name = "fold-two-negations",
                   .from = unary(negated, bound("type"), unary(negated, bound("type"), hole("a", is_float))),
                   .to = a,
                   .condition =
                       [](const EGraph& graph, const Match& m) {
                           return m.attribute<std::string>("type") ==
                                  name(graph.facts(m["a"]).types.front().element);
                       }}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}}, {{"type", "f32"}})},
        {.rule = Rule({.name = "swap-summands", .from = binary("X + Z", a, b), .to = binary("X + Z", b, a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}, {"b", half}}, {{"type", "f32"}})},
        {.rule = Rule({.name = "swap-factors", .from = binary("X * Z", a, b), .to = binary("X * Z", b, a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}, {"b", half}}, {{"type", "f32"}})},
        {.rule = definition_rule(families, "simplify-body", with_simple_body),
         .exactness = Exactness::kExact,
         .example = Example(kDoingNothing)},
        {.rule = definition_rule(families, "pull-scale-out-of-sum", with_scale_behind),
         .exactness = Exactness::kInRange,
         .example = Example(kScaledSum)},
    };
}

}  // namespace tessera::rules
