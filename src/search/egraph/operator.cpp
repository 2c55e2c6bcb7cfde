#include "search/egraph/operator.h"

#include <fmt/core.h>

#include "ir/graph_text.h"

namespace tessera::egraph {
namespace {

/// Reads by the declared map in the one way, however they were written.
ExprPtr normalised(const ExprPtr& expr, const Definition& definition) {
    if (!expr) return expr;
    if (const auto* call = std::get_if<Apply>(&expr->node)) {
        std::vector<ExprPtr> arguments;
        for (const ExprPtr& argument : call->arguments) arguments.push_back(normalised(argument, definition));
        return apply(call->function, std::move(arguments));
    }
    if (const auto* to = std::get_if<Cast>(&expr->node))
        return cast(to->to, normalised(to->argument, definition));
    if (const auto* access = std::get_if<Read>(&expr->node)) {
        const std::vector<ExprPtr>& map = definition.tensors[static_cast<size_t>(access->tensor)].map;
        bool is_declared = map.size() == access->coordinates.size();
        std::vector<ExprPtr> coordinates;
        for (size_t i = 0; i < access->coordinates.size(); ++i) {
            is_declared = is_declared && same(map[i], access->coordinates[i]);
            coordinates.push_back(normalised(access->coordinates[i], definition));
        }
        return read(access->tensor, std::move(coordinates), is_declared);
    }
    return expr;
}

std::string key(const Definition& definition) {
    Definition named = definition;
    named.name.clear();
    // Names that no dim can have: expressions refer to iterators and tensors by position, dims are symbols.
    for (size_t i = 0; i < named.iterators.size(); ++i) {
        named.iterators[i].name = fmt::format("%{}", i);
        named.iterators[i].extent = normalised(named.iterators[i].extent, definition);
    }
    for (size_t i = 0; i < named.tensors.size(); ++i) {
        named.tensors[i].name = fmt::format("${}", i);
        for (ExprPtr& component : named.tensors[i].map) component = normalised(component, definition);
        if (named.tensors[i].shape)
            for (ExprPtr& extent : *named.tensors[i].shape) extent = normalised(extent, definition);
    }
    for (ExprPtr& part : named.body) part = normalised(part, definition);
    named.post = normalised(named.post, definition);
    for (RecurrenceLine& line : named.lines) line.post = normalised(line.post, definition);
    named.where = normalised(named.where, definition);
    return print(named);
}

std::string key(const Composite& composite) {
    std::string text = "composite " + composite.kind;
    for (const auto& [name, value] : composite.attributes) {
        text += fmt::format("\n{} = ", name);
        if (const auto* integer = std::get_if<int64_t>(&value)) text += fmt::format("i{}", *integer);
        if (const auto* real = std::get_if<double>(&value)) text += fmt::format("r{}", *real);
        if (const auto* string = std::get_if<std::string>(&value)) text += quoted(*string);
    }
    return text;
}

std::string key(const Leaf& leaf) {
    return fmt::format("leaf {} {}", static_cast<int>(leaf.kind), leaf.name);
}

std::string key(const Projection& projection) {
    return fmt::format("result {}", projection.result);
}

std::string key(const DefinitionPtr& definition) {
    return key(*definition);
}

}  // namespace

std::string key(const Operator& op) {
    std::string text = std::visit([](const auto& what) { return key(what); }, op.what);
    for (const TensorType& type : op.results) text += "\n-> " + print(type);
    if (op.updates) text += "\nupdates";
    return text;
}

std::string label(const Operator& op) {
    if (const auto* leaf = std::get_if<Leaf>(&op.what)) return "%" + leaf->name;
    if (const auto* projection = std::get_if<Projection>(&op.what))
        return fmt::format("result {}", projection->result);
    if (const auto* composite = std::get_if<Composite>(&op.what)) return composite->kind;
    return op.definition()->name;
}

}  // namespace tessera::egraph
