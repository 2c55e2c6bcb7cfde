#include "fuzz/programs/draft.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/contents.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/define.h"
#include "ir/result_type.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

constexpr int64_t kMostElements = 1500;
constexpr int64_t kMostIterations = 40'000;
/// Products of four such numbers are finite in F32.
constexpr double kLargest = 1e6;

int64_t product_of(const std::vector<int64_t>& extents) {
    int64_t product = 1;
    for (const int64_t extent : extents) product *= extent;
    return product;
}

}  // namespace

Draft::Draft(Choices& choices_) : choices(choices_) {
    Graph& graph = program.graph;
    graph.name = "drawn";
    graph.blocks.emplace_back().name = "main";
    // Values at which vectors of 4, 8 and 16 lanes begin, end and are left over.
    const std::vector<int64_t> extents = {2, 1, 3, 5, 7, 8, 9, 15, 16, 17, 24, 33};
    const auto count = static_cast<size_t>(choices.below(3));
    for (size_t s = 0; s < count; ++s) {
        const int64_t value = choices.pick(extents);
        const int64_t divisor = value % 8 == 0 && choices.chance(40) ? 8 : 1;
        const int64_t low = choices.chance(70) ? divisor : value;
        const int64_t high = std::max(value, value * choices.between(1, 4));
        const std::string name = s == 0 ? "T" : "S";
        graph.symbols.push_back({name, low, high, divisor});
        program.symbols[name] = value;
    }
}

bool Draft::is_useful(const TensorData& data, ElementType type) const {
    if (data.values.empty() || std::ssize(data.values) > kMostElements) return false;
    size_t nans = 0;
    for (const double v : data.values) {
        if (std::isnan(v)) ++nans;
        if (std::isnan(v) && is_integer(type)) return false;  // the notation says nothing about it
        if (std::isfinite(v) && std::abs(v) > kLargest && !is_integer(type)) return false;
    }
    return nans * 5 <= data.values.size() * 3;
}

namespace {

/// The notation does not define the integer of NaN: such casts see finite numbers alone.
bool casts_to_integers(const Definition& definition) {
    bool found = false;
    for (const ExprPtr& root : read_roots(definition))
        walk(root, [&](const Expr& expr) {
            const auto* cast = std::get_if<Cast>(&expr.node);
            found = found || (cast && is_integer(cast->to));
            return !found;
        });
    return found;
}

bool is_finite(const TensorData& data) {
    return std::ranges::all_of(data.values, [](double v) { return std::isfinite(v); });
}

bool is_small(const TensorData& data) {
    constexpr double kLargestFactor = 5;  // of a score
    return std::ranges::all_of(data.values,
                               [](double v) { return !std::isfinite(v) || std::abs(v) < kLargestFactor; });
}

}  // namespace

bool Draft::add(const std::string& text, const std::vector<ValueId>& operands, std::optional<ValueId> over) {
    Graph& graph = program.graph;
    const std::string name = fmt::format("n{}", program.kinds.size());
    DefinitionPtr definition;
    std::vector<TensorData> results;
    try {
        definition = ops::define(graph.symbols, text);
        const BoundExtents extents =
            bound_extents(*definition, dims_of(*definition, program.symbols), "a drawn definition");
        if (product_of(extents.iterators) > kMostIterations) return false;
        if (casts_to_integers(*definition) &&
            !std::ranges::all_of(operands, [&](ValueId id) { return is_finite(data(id)); }))
            return false;
        for (size_t i = 0; i < definition->tensors.size(); ++i)
            if (!shape_of(*definition, static_cast<int>(i))) return false;
        std::vector<TensorData> contents(definition->tensors.size());
        size_t next = 0;
        for (size_t i = 0; i < contents.size(); ++i) {
            const Role role = definition->tensors[i].role;
            if (role == Role::kUpdate) contents[i] = data(over.value());
            if (role == Role::kIndex || role == Role::kIn) contents[i] = data(operands.at(next++));
        }
        results = interpret(*definition, extents, contents, "a drawn definition", /*round_results=*/true,
                            /*held=*/nullptr, InfiniteScores::kNothing);
    } catch (const Error& error) {
        throw Error(kind, text, error.what(), "mend the family that drew it");
    }
    // Weights of far scores are 0 in F32 alone, and 0 times infinity is something else.
    if (definition->monoid == Monoid::kSoftmaxSum &&
        !std::ranges::all_of(operands, [&](ValueId id) { return is_finite(data(id)); }) &&
        !std::ranges::all_of(operands, [&](ValueId id) { return is_small(data(id)); }))
        return false;
    const std::vector<int> positions = definition->results();
    for (size_t r = 0; r < results.size(); ++r)
        if (!is_useful(results[r], definition->tensors[static_cast<size_t>(positions[r])].type)) return false;

    ops::BlockBuilder builder(graph, graph.blocks.front(), Rounding::kWeights);
    if (over && graph[*over].kind == ValueKind::kState) {
        builder.update(name, definition, operands, *over);
    } else if (over) {
        const ValueId after = builder.value({.name = name, .type = graph[*over].type});
        builder.add_into(name, definition, operands, after);
        graph.blocks.front().nodes.back().previous = over;
    } else if (results.size() > 1) {
        for (const ValueId made : builder.add_all(name, definition, operands)) {
            TensorType& type = graph.values[static_cast<size_t>(made.index)].type;
            if (!is_integer(type.element) && bits(type.element) < 32) type.rounding = Rounding::kWeights;
        }
    } else {
        builder.add(name, definition, operands);
    }
    for (TensorData& result : results) data_.push_back(std::move(result));
    program.kinds.push_back(kind);
    if (choices.chance(25)) exchange_last_nodes();
    return true;
}

/// Exchanges them if the last needs nothing of the other: states are read before and behind their updates.
void Draft::exchange_last_nodes() {
    std::vector<Node>& nodes = program.graph.blocks.front().nodes;
    if (nodes.size() < 2) return;
    const Node& before = nodes[nodes.size() - 2];
    for (const ValueId made : before.results)
        if (std::ranges::count(nodes.back().operands, made) > 0 || nodes.back().previous == made) return;
    std::swap(nodes[nodes.size() - 2], nodes.back());
    std::swap(program.kinds[nodes.size() - 2], program.kinds.back());
}

std::optional<ValueId> Draft::any(const std::function<bool(const Value&)>& passes) {
    std::vector<ValueId> found;
    for (size_t i = 0; i < program.graph.values.size(); ++i)
        if (is_set({static_cast<int>(i)}) && passes(program.graph.values[i]))
            found.push_back({static_cast<int>(i)});
    // Most operators of these types are refused (docs/ir.md, "Numbers").
    const auto is_refused = [&](ValueId id) {
        const ElementType type = program.graph[id].type.element;
        return type == ElementType::kI32 || type == ElementType::kU8 || bits(type) < 8;
    };
    if (choices.chance(95)) std::erase_if(found, is_refused);
    if (found.empty()) return {};
    // The one before last, or any: chains are as long as programs allow.
    if (!choices.chance(35)) return found.back();
    return choices.pick(found);
}

bool Draft::is_set(ValueId id) const {
    if (program.graph[id].kind != ValueKind::kState) return true;
    return std::ranges::any_of(program.graph.blocks.front().states,
                               [&](const StateUpdate& update) { return update.before == id; });
}

std::optional<ValueId> Draft::any_of_rank(size_t low, size_t high) {
    const auto passes = [&](const Value& value) {
        return value.type.shape.size() >= low && value.type.shape.size() <= high;
    };
    const std::optional<ValueId> found = any(passes);
    if (found && !choices.chance(15)) return found;
    Shape shape;
    const int64_t rank = choices.between(static_cast<int64_t>(low), static_cast<int64_t>(high));
    for (int64_t axis = 0; axis < rank; ++axis) shape.push_back(extent());
    if (product_of(evaluate(shape, program.symbols)) > kMostElements) return found;
    return operand(any_type(), shape);
}

ValueId Draft::operand(ElementType type, const Shape& shape) {
    if (choices.chance(60)) {
        const auto found =
            any([&](const Value& value) { return value.type.element == type && value.type.shape == shape; });
        if (found) return *found;
    }
    return given(type, shape, draw_contents(choices, type, evaluate(shape, program.symbols)));
}

ValueId Draft::given(ElementType type, const Shape& shape, TensorData contents) {
    const bool is_constant = std::ranges::all_of(shape, &Dim::is_constant) && choices.chance(40);
    return add_value(type, shape, is_constant ? ValueKind::kConstant : ValueKind::kInput,
                     std::move(contents));
}

ValueId Draft::add_value(ElementType type, const Shape& shape, ValueKind value_kind, TensorData contents) {
    const char* prefix = value_kind == ValueKind::kConstant ? "c"
                         : value_kind == ValueKind::kState  ? "s"
                                                            : "x";
    Value value{.name = fmt::format("{}{}", prefix, program.graph.values.size()), .kind = value_kind};
    value.type.element = type;
    value.type.shape = shape;
    auto& held = value_kind == ValueKind::kConstant ? program.constants
                 : value_kind == ValueKind::kState  ? program.states
                                                    : program.inputs;
    if (value_kind == ValueKind::kConstant) value.sources = {value.name};
    held[value.name] = contents;
    data_.push_back(std::move(contents));
    program.graph.values.push_back(std::move(value));
    return {static_cast<int>(program.graph.values.size()) - 1};
}

std::optional<ValueId> Draft::state(ElementType type, const Shape& shape) {
    const std::vector<int64_t> extents = evaluate(shape, program.symbols);
    if (product_of(extents) > kMostElements) return {};
    return add_value(type, shape, ValueKind::kState, draw_contents(choices, type, extents));
}

ElementType Draft::float_type() {
    return choices.pick<ElementType>({ElementType::kF32, ElementType::kF32, ElementType::kF32,
                                      ElementType::kF32, ElementType::kF32, ElementType::kF16,
                                      ElementType::kBF16});
}

ElementType Draft::any_type() {
    if (!choices.chance(18)) return float_type();
    static const std::vector<ElementType> kIntegers = {ElementType::kI8, ElementType::kI8, ElementType::kI8,
                                                       ElementType::kI8, ElementType::kI8, ElementType::kU8,
                                                       ElementType::kI32};
    return choices.pick(kIntegers);
}

Dim Draft::extent() {
    if (!program.graph.symbols.empty() && choices.chance(35))
        return Dim(choices.pick(program.graph.symbols).name);
    static const std::vector<int64_t> kExtents = {2, 1, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33};
    return choices.pick(kExtents);
}

ValueId Draft::last() const {
    return {static_cast<int>(program.graph.values.size()) - 1};
}

std::vector<std::string> coordinate_list(size_t rank) {
    std::vector<std::string> all;
    for (size_t axis = 0; axis < rank; ++axis) all.push_back(fmt::format("i{}", axis));
    return all;
}

std::string coordinates(size_t rank) {
    return fmt::format("{}", fmt::join(coordinate_list(rank), ", "));
}

std::string iterators(const Shape& shape, const std::vector<size_t>& reduced) {
    std::vector<std::string> all;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        all.push_back(fmt::format("i{}{}: {}", axis, std::ranges::count(reduced, axis) > 0 ? "*" : "",
                                  ops::text(shape[axis])));
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string shape_text(const Shape& shape) {
    std::vector<std::string> all;
    for (const Dim& dim : shape) all.push_back(ops::text(dim));
    return fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace tessera::fuzz
