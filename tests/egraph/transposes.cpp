#include "egraph/transposes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/result_type.h"

namespace tessera::egraph::testing {
namespace {

std::vector<std::string> names(const std::vector<int64_t>& axes) {
    std::vector<std::string> result;
    for (const int64_t axis : axes) result.push_back(fmt::format("i{}", axis));
    return result;
}
std::vector<int64_t> in_order(size_t rank) {
    std::vector<int64_t> result;
    for (size_t i = 0; i < rank; ++i) result.push_back(static_cast<int64_t>(i));
    return result;
}
std::string iterators(const std::vector<int64_t>& extents) {
    std::vector<std::string> result;
    for (size_t i = 0; i < extents.size(); ++i) result.push_back(fmt::format("i{}: {}", i, extents[i]));
    return fmt::format("{}", fmt::join(result, ", "));
}
std::vector<int64_t> extents_of(const TensorType& type) {
    std::vector<int64_t> result;
    for (const Dim& dim : type.shape) result.push_back(dim.factor);
    return result;
}
std::vector<int64_t> inverse(const std::vector<int64_t>& perm) {
    std::vector<int64_t> result(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) result[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    return result;
}

Operator structured(DefinitionPtr definition) {
    const TensorType result = type_of(*definition, definition->results().front(), "test");
    return {.what = std::move(definition), .results = {result}};
}

/// The operand's map has the iterators permuted, the result's has them in order, and the body is the read.
std::optional<Attributes> recognise_transpose(const Operator& op) {
    const Definition* d = op.definition();
    if (!d || d->tensors.size() != 2 || d->body.size() != 1 || d->monoid != Monoid::kNone || d->where)
        return {};
    const auto* access = std::get_if<Read>(&d->body.front()->node);
    if (!access || access->coordinates.size() != d->iterators.size()) return {};
    std::vector<int64_t> from(d->iterators.size());
    for (size_t i = 0; i < from.size(); ++i) {
        const auto* iterator = std::get_if<IteratorRef>(&access->coordinates[i]->node);
        const auto* result = std::get_if<IteratorRef>(&d->tensors[1].map[i]->node);
        if (!iterator || !result || result->index != static_cast<int>(i)) return {};
        from[i] = iterator->index;
    }
    return Attributes{{"perm", inverse(from)}};
}

std::optional<Attributes> recognise_elementwise(const Operator& op, size_t operands) {
    const Definition* d = op.definition();
    if (!d || d->tensors.size() != operands + 1 || d->body.size() != 1 || d->monoid != Monoid::kNone)
        return {};
    const auto* call = std::get_if<Apply>(&d->body.front()->node);
    if (!call || call->arguments.size() != operands) return {};
    for (size_t i = 0; i < operands; ++i) {
        const auto* access = std::get_if<Read>(&call->arguments[i]->node);
        if (!access || access->tensor != static_cast<int>(i) || !access->declared_map) return {};
    }
    return Attributes{{"function", std::string(name(call->function))}};
}

FamilyPtr transposes() {
    static const FamilyPtr family = std::make_shared<OperatorFamily>(OperatorFamily{
        .name = "transpose",
        .recognise = recognise_transpose,
        .make = [](const Attributes& a, std::span<const TensorType> types) -> std::optional<Operator> {
            return structured(transpose(extents_of(types[0]), std::get<std::vector<int64_t>>(a.at("perm"))));
        }});
    return family;
}
FamilyPtr elementwise_family(int operands) {
    return std::make_shared<OperatorFamily>(
        OperatorFamily{.name = operands == 1 ? "unary" : "binary",
                       .recognise =
                           [operands](const Operator& op) {
                               return recognise_elementwise(op, static_cast<size_t>(operands));
                           },
                       .make = [operands](const Attributes& a,
                                          std::span<const TensorType> types) -> std::optional<Operator> {
                           return structured(elementwise(extents_of(types[0]),
                                                         std::get<std::string>(a.at("function")), operands));
                       }});
}

}  // namespace

DefinitionPtr transpose(const std::vector<int64_t>& shape, const std::vector<int64_t>& perm) {
    std::vector<int64_t> result;
    for (const int64_t axis : perm) result.push_back(shape[static_cast<size_t>(axis)]);
    return std::make_shared<const Definition>(parse_definition(
        fmt::format("op transpose({})\nin X f32[{}]\nout Y f32[{}] = X\n", iterators(result),
                    fmt::join(names(inverse(perm)), ", "), fmt::join(names(in_order(shape.size())), ", ")),
        "test"));
}

DefinitionPtr elementwise(const std::vector<int64_t>& shape, const std::string& function, int operands) {
    const std::string map = fmt::format("{}", fmt::join(names(in_order(shape.size())), ", "));
    return std::make_shared<const Definition>(parse_definition(
        operands == 1 ? fmt::format("op unary({})\nin X f32[{}]\nout Y f32[{}] = {}(X)\n", iterators(shape),
                                    map, map, function)
                      : fmt::format("op binary({})\nin X f32[{}]\nin Z f32[{}]\nout Y f32[{}] = X {} Z\n",
                                    iterators(shape), map, map, map, function),
        "test"));
}

std::vector<Rule> transpose_rules() {
    using Perm = std::vector<int64_t>;
    const Pattern a = hole("a"), b = hole("b");
    const auto t = [](const AttributePattern& perm, Pattern x) {
        return apply(transposes(), {{"perm", perm}}, {std::move(x)});
    };
    const auto binary = [](Pattern x, Pattern y) {
        return apply(elementwise_family(2), {{"function", bound("f")}}, {std::move(x), std::move(y)});
    };
    const auto unary = [](Pattern x) {
        return apply(elementwise_family(1), {{"function", bound("f")}}, {std::move(x)});
    };
    const AttributePattern p = bound("p"), q = bound("q");
    const AttributePattern p_inverse =
        computed([](const Match& m) -> Attribute { return inverse(m.attribute<Perm>("p")); });
    const AttributePattern both = computed([](const Match& m) -> Attribute {
        Perm result;
        for (const int64_t axis : m.attribute<Perm>("q"))
            result.push_back(m.attribute<Perm>("p")[static_cast<size_t>(axis)]);
        return result;
    });
    return {
        Rule({.name = "combine-binary-left",
              .from = binary(t(p, a), b),
              .to = t(p, binary(a, t(p_inverse, b)))}),
        Rule({.name = "combine-binary-right",
              .from = binary(a, t(p, b)),
              .to = t(p, binary(t(p_inverse, a), b))}),
        Rule({.name = "combine-unary", .from = unary(t(p, a)), .to = t(p, unary(a))}),
        Rule({.name = "fold-two", .from = t(q, t(p, a)), .to = t(both, a)}),
        Rule({.name = "fold-nop",
              .from = t(p, a),
              .to = a,
              .condition =
                  [](const EGraph&, const Match& m) {
                      return m.attribute<Perm>("p") == in_order(m.attribute<Perm>("p").size());
                  }}),
    };
}

bool is_transpose(const Operator& op) {
    return recognise_transpose(op).has_value();
}

}  // namespace tessera::egraph::testing
