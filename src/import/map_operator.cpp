#include "import/map_operator.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "import/architecture/functions.h"
#include "support/error.h"

namespace tessera::import {
namespace {

std::string operand_name(size_t index) {
    return fmt::format("X{}", index);
}

std::map<std::string, std::string> names_of(const std::vector<MapOperand>& operands) {
    std::map<std::string, std::string> names;
    for (size_t i = 0; i < operands.size(); ++i)
        names[operands[i].name] = operands[i].is_position ? "position[t]" : operand_name(i);
    return names;
}

std::string shape_text(const std::vector<Dim>& shape) {
    std::string all;
    for (const Dim& each : shape) all += (all.empty() ? "" : ", ") + ops::text(each);
    return all;
}

/// The same for a message.
std::string text_of_shape(const std::vector<Dim>& shape) {
    std::string all = shape_text(shape);
    std::erase(all, '$');
    return all;
}

std::string iterator_name(size_t axis) {
    return axis == 0 ? "t" : fmt::format("i{}", axis);
}

}  // namespace

TermPtr operator_body(const TermPtr& term, const std::map<std::string, std::string>& names,
                      const std::string& where) {
    const auto own_name = [&](const std::string& name) {
        const auto found = names.find(name);
        return found == names.end() ? name : found->second;
    };
    if (term->kind == Term::Kind::kName) return name_term(own_name(term->name));
    if (term->kind == Term::Kind::kText || term->kind == Term::Kind::kList)
        throw Error(where, "", fmt::format("{} is no number", print(term)));
    Term result = *term;
    if (result.kind == Term::Kind::kElement) result.name = own_name(result.name);
    if (const auto f = find_activation(result.name); f && result.kind == Term::Kind::kCall)
        return name_term(fmt::format(
            "({})", ops::applied(*f, print(operator_body(result.arguments.at(0), names, where)))));
    for (TermPtr& argument : result.arguments) argument = operator_body(argument, names, where);
    return std::make_shared<const Term>(std::move(result));
}

DefinitionPtr mapped(ops::Symbols symbols, const TermPtr& term, const std::vector<MapOperand>& operands,
                     ElementType result, const std::string& where) {
    const auto widest = std::ranges::max_element(
        operands, {}, [](const MapOperand& each) { return each.is_of_tokens ? each.type.shape.size() : 0; });
    if (widest == operands.end() || !widest->is_of_tokens)
        throw Error(where, "", "the expression reads no value of a token");
    const std::vector<Dim>& shape = widest->type.shape;
    std::string iterators, all, reads;
    for (size_t i = 0; i < shape.size(); ++i) {
        iterators += fmt::format("{}{}: {}", i == 0 ? "" : ", ", iterator_name(i), ops::text(shape[i]));
        all += (i == 0 ? "" : ", ") + iterator_name(i);
    }
    for (size_t n = 0; n < operands.size(); ++n) {
        const MapOperand& own = operands[n];
        if (own.is_position) {
            reads += "index position i32[t]\n";
            continue;
        }
        const size_t axes = own.type.shape.size();
        const size_t skipped = own.is_of_tokens ? 0 : shape.size() - axes;
        std::string map;
        for (size_t i = 0; i < axes; ++i) {
            // A tensor of one number has the same for all elements.
            const bool is_one = !own.is_of_tokens && own.type.shape[i] == Dim(1);
            if (axes > shape.size() || (!is_one && own.type.shape[i] != shape[i + skipped]))
                throw Error(where, own.name,
                            fmt::format("has the shape [{}] where others have [{}]",
                                        text_of_shape(own.type.shape), text_of_shape(shape)),
                            "say indices: NAME[i, j] = ..");
            map += (map.empty() ? "" : ", ") + (is_one ? "0" : iterator_name(i + skipped));
        }
        reads += fmt::format("in  {} {}[{}]\n", operand_name(n), name(own.type.element), map);
    }
    return ops::define(symbols,
                       fmt::format("op map({})\n{}out Y {}[{}] = {}\n", iterators, reads, name(result), all,
                                   print(operator_body(term, names_of(operands), where))));
}

DefinitionPtr indexed_map(ops::Symbols symbols, const std::vector<std::string>& indices,
                          const std::vector<int64_t>& stated, const TermPtr& term,
                          const std::vector<MapOperand>& operands, const Dim& rows,
                          const std::string& where) {
    std::map<std::string, Dim> extents;
    std::vector<std::string> order = indices;
    for (size_t i = 0; i < stated.size(); ++i)
        if (stated[i] != 0) extents.emplace(indices[i], Dim(stated[i]));
    const auto operand_of = [&](const std::string& name) -> const MapOperand* {
        const auto found = std::ranges::find(operands, name, &MapOperand::name);
        return found == operands.end() ? nullptr : &*found;
    };
    walk(term, [&](const Term& each) {
        const MapOperand* own = operand_of(each.name);
        if (!own || (each.kind != Term::Kind::kElement && each.kind != Term::Kind::kName)) return;
        const size_t skipped = own->is_of_tokens ? 1 : 0;
        if (each.arguments.size() + skipped != own->type.shape.size())
            throw Error(where, each.name,
                        fmt::format("is read with {} indices, expected {}", each.arguments.size(),
                                    own->type.shape.size() - skipped));
        for (size_t i = 0; i < each.arguments.size(); ++i) {
            const TermPtr& index = each.arguments[i];
            if (index->kind != Term::Kind::kName || operand_of(index->name)) continue;
            const Dim& extent = own->type.shape[i + skipped];
            const auto [place, is_new] = extents.emplace(index->name, extent);
            const auto said = std::ranges::find(indices, index->name);
            const bool is_stated = said != indices.end() && !stated.empty() &&
                                   stated[static_cast<size_t>(said - indices.begin())] != 0;
            if (!is_new && !is_stated && place->second != extent)
                throw Error(where, index->name,
                            fmt::format("has two extents, {} and {}", text_of_shape({place->second}),
                                        text_of_shape({extent})));
            if (std::ranges::find(order, index->name) == order.end()) order.push_back(index->name);
        }
    });
    std::string iterators = "t: " + ops::text(rows), all = "t";
    for (size_t i = 0; i < order.size(); ++i) {
        const auto extent = extents.find(order[i]);
        if (extent == extents.end())
            throw Error(where, order[i], "has no extent: no value is read by this index alone");
        const bool is_reduced = i >= indices.size();
        iterators += fmt::format(", {}{}: {}", order[i], is_reduced ? "*" : "", ops::text(extent->second));
        if (!is_reduced) all += ", " + order[i];
    }
    // Reads carry their coordinates: the declared ones only say the shapes.
    std::string reads;
    std::map<std::string, std::string> names;
    for (size_t n = 0; n < operands.size(); ++n) {
        const MapOperand& own = operands[n];
        if (own.is_position) {
            reads += "index position i32[t]\n";
            names[own.name] = own.name;
            continue;
        }
        names[own.name] = operand_name(n);
        std::string map;
        for (size_t i = 0; i < own.type.shape.size(); ++i)
            map += (i == 0 ? "" : ", ") + std::string(i == 0 && own.is_of_tokens ? "t" : "0");
        reads += fmt::format("in  {} {}[{}] of [{}]\n", operand_name(n), name(own.type.element), map,
                             shape_text(own.type.shape));
    }
    const std::function<TermPtr(const TermPtr&)> with_tokens = [&](const TermPtr& each) -> TermPtr {
        Term result = *each;
        for (TermPtr& argument : result.arguments) argument = with_tokens(argument);
        const MapOperand* own = operand_of(each->name);
        const bool is_read = own && (each->kind == Term::Kind::kElement || each->kind == Term::Kind::kName);
        if (is_read) result.kind = Term::Kind::kElement;
        if (is_read && own->is_of_tokens) result.arguments.insert(result.arguments.begin(), name_term("t"));
        return std::make_shared<const Term>(std::move(result));
    };
    return ops::define(symbols, fmt::format("op indexed_map({})\n{}out Y f32[{}] = {}\n", iterators, reads,
                                            all, print(operator_body(with_tokens(term), names, where))));
}

DefinitionPtr taken_part(ops::Symbols symbols, const TensorType& type, int64_t first, int64_t width) {
    const bool has_heads = type.shape.size() == 3;
    const std::string place = first == 0 ? "n" : fmt::format("n + {}", first);
    return ops::define(
        symbols,
        fmt::format("op taken_part(t: {}{}, n: {})\nin  X {}[t, {}{}] of [{}]\nout Y {}[t, {}n] = X\n",
                    ops::text(type.shape[0]), has_heads ? ", h: " + ops::text(type.shape[1]) : std::string(),
                    width, name(type.element), has_heads ? "h, " : "", place, shape_text(type.shape),
                    name(type.element), has_heads ? "h, " : ""));
}

DefinitionPtr joined_parts(ops::Symbols symbols, const std::vector<TensorType>& parts) {
    const size_t axes = parts.front().shape.size();
    Dim heads = axes == 3 ? parts.front().shape[1] : Dim(1);
    int64_t width = 0;
    for (const TensorType& part : parts) {
        width += part.shape.back().factor;
        if (axes == 3 && part.shape[1] != Dim(1)) heads = part.shape[1];
    }
    std::string reads, value;
    int64_t begin = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::vector<Dim>& shape = parts[i].shape;
        const int64_t own = shape.back().factor;
        const std::string head = axes == 2 ? "" : shape[1] == heads ? "h, " : "0, ";
        // Elsewhere it reads what is there, which the choice drops.
        reads += fmt::format("in  {} {}[t, {}(n + {}) mod {}] of [{}]\n", operand_name(i),
                             name(parts[i].element), head, (own - begin % own) % own, own, shape_text(shape));
        begin += own;
        const bool is_last = i + 1 == parts.size();
        value += is_last ? operand_name(i) : fmt::format("select(n < {}, {}, ", begin, operand_name(i));
    }
    value.append(parts.size() - 1, ')');
    const std::string head = axes == 2 ? "" : "h, ";
    return ops::define(symbols, fmt::format("op joined(t: {}{}, n: {})\n{}out Y {}[t, {}n] = {}\n",
                                            ops::text(parts[0].shape[0]),
                                            axes == 2 ? std::string() : ", h: " + ops::text(heads), width,
                                            reads, name(parts[0].element), head, value));
}

DefinitionPtr chosen_rows(ops::Symbols symbols, const Dim& rows, int64_t chosen, const TensorType& table,
                          int64_t experts) {
    const bool is_column = table.shape[1] == Dim(1) && table.shape[0] != Dim(experts);
    const int64_t width = is_column ? table.shape[0].factor / experts : table.shape[1].factor;
    const std::string place =
        is_column ? fmt::format("choice[t, j] * {} + n, 0", width) : std::string("choice[t, j], n");
    return ops::define(
        symbols,
        fmt::format("op chosen_rows(t: {}, j: {}, n: {})\nindex choice i32[t, j]\nin  W {}[{}] "
                    "of [{}]\nout Y f32[t, j, n] = W\n",
                    ops::text(rows), chosen, width, name(table.element), place, shape_text(table.shape)));
}

DefinitionPtr rows_at_positions(ops::Symbols symbols, const Dim& rows, int64_t positions, int64_t width) {
    return ops::define(symbols,
                       fmt::format("op rows_at_positions(t: {}, i: {})\nindex position i32[t]\nin  C "
                                   "f32[position[t], i] of [{}, {}]\nout Y f32[t, i] = C\n",
                                   ops::text(rows), width, positions, width));
}

DefinitionPtr picked(ops::Symbols symbols, const Dim& rows, int64_t width, int64_t chosen) {
    return ops::define(
        symbols,
        fmt::format("op picked(t: {0}, j: {1})\nindex choice i32[t, j]\nin  X f32[t, choice[t, j]] of "
                    "[{0}, {2}]\nout Y f32[t, j] = X\n",
                    ops::text(rows), chosen, width));
}

DefinitionPtr shifted_exponentials(ops::Symbols symbols, const Dim& rows, int64_t width) {
    return ops::define(
        symbols, fmt::format("op shifted_exponentials(t: {}, e: {})\nin  X f32[t, e]\nin  M f32[t]\nout Y "
                             "f32[t, e] = exp(X - M)\n",
                             ops::text(rows), width));
}

}  // namespace tessera::import
