#include "import/onnx/graph_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "import/onnx/primitives.h"
#include "import/onnx/reshape_text.h"
#include "import/onnx/unsigned_range.h"
#include "import/onnx/volume.h"
#include "ir/characters.h"
#include "ir/interpreter.h"
#include "ir/ops/define.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

/// Known operands are computed at once up to so many iterations; beyond, when the model runs.
constexpr int64_t kMostFolded = int64_t{1} << 22;

/// A name of the graph's notation.
std::string as_name(const std::string& text) {
    std::string name;
    for (const char c : text) name += continues_name(c) ? c : '_';
    if (name.empty() || !starts_name(name.front())) name = "_" + name;
    return name;
}

/// Such results are what the model says, not a choice of the compiler.
bool is_half(ElementType type) {
    return type == ElementType::kF16 || type == ElementType::kBF16;
}

/// The contents in float64.
TensorData data_of(const Operand& operand) {
    return {.shape = evaluate(stored_shape(operand.shape), {}), .values = numbers_of(operand)};
}

/// True if float64 holds the numbers.
bool is_exact(const Operand& operand) {
    constexpr int64_t kExact = int64_t{1} << 53;
    if (operand.type != DataType::kInt64 && operand.type != DataType::kUint64) return true;
    return std::ranges::all_of(integers_of(operand),
                               [](int64_t number) { return number >= -kExact && number <= kExact; });
}

}  // namespace

const StoredTensor* OnnxWeights::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> OnnxWeights::names() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
}

void OnnxWeights::add(const std::string& name, StoredTensor tensor, std::shared_ptr<const void> owner) {
    tensors_[name] = std::move(tensor);
    owners_.push_back(std::move(owner));
}

GraphBuilder::GraphBuilder(std::string name, std::vector<DimSymbol> symbols, std::vector<Point> points) {
    graph_.name = std::move(name);
    graph_.symbols = std::move(symbols);
    graph_.points = std::move(points);
    for (const DimSymbol& symbol : graph_.symbols) ++taken_[symbol.name];
    graph_.blocks.push_back(
        {.name = "main", .repeat = 1, .carried_in = {}, .carried_out = {}, .states = {}, .nodes = {}});
    ++taken_["main"];
}

std::string GraphBuilder::fresh(const std::string& wanted) {
    const std::string name = as_name(wanted);
    std::string chosen = name;
    while (taken_.contains(chosen)) chosen = fmt::format("{}_{}", name, ++taken_[name]);
    ++taken_[chosen];
    return chosen;
}

Operand GraphBuilder::input(const std::string& name, DataType type, const std::vector<Dim>& shape) {
    const ValueId id{static_cast<int>(graph_.values.size())};
    Operand operand{.type = type, .shape = shape, .known = {}, .id = id};
    graph_.values.push_back({.name = fresh(name),
                             .kind = ValueKind::kInput,
                             .type = {.element = operand.element(), .shape = stored_shape(shape)},
                             .sources = {}});
    return operand;
}

Operand GraphBuilder::cache(const Alias& alias, DataType type, const std::vector<Dim>& shape) {
    std::vector<Dim> room = shape;
    room[alias.axis] = Dim(alias.most);
    Operand operand = input(alias.input, type, room);
    graph_.values.back().kind = ValueKind::kState;
    caches_[alias.input] = {.alias = alias, .before = *operand.id, .after = {}};
    operand.shape = shape;
    operand.cache = alias.input;
    return operand;
}

Operand GraphBuilder::append(const Operand& cache, const Operand& rows, size_t axis) {
    Cache& kept = caches_.at(cache.cache);
    const Alias& alias = kept.alias;
    const auto expect = [&](bool holds, const std::string& problem) {
        if (!holds) throw Error("", "", fmt::format("{} `{}`, which is aliased", problem, alias.input));
    };
    expect(!kept.after, "appends once more to");
    expect(axis == alias.axis, fmt::format("appends along axis {}, expected {}, to", axis, alias.axis));
    expect(rows.type == cache.type && rows.shape[axis] == Dim(alias.rows),
           fmt::format("appends {} of {}, expected {} of {}, to", print(linear_form(rows.shape[axis])),
                       onnx::name(rows.type), alias.rows, onnx::name(cache.type)));
    OperatorText text("op_append");
    std::vector<std::string> read, written;
    for (size_t a = 0; a < rows.rank(); ++a) {
        read.push_back(fmt::format("x{}", a));
        text.over(read.back(), rows.shape[a]);
    }
    written = read;
    written[axis] = fmt::format("{} + {}", form_text(extent(Dim(alias.held))), read[axis]);
    std::vector<Dim> room = cache.shape;
    room[axis] = Dim(alias.most);
    text.read(rows, "X", read).update(cache.type, room, written, "X");
    Operand result = add_node(text);
    Block& block = graph_.blocks.front();
    block.nodes.back().previous = kept.before;
    block.states.push_back({kept.before, *result.id});
    kept.after = result.id;
    result.room = std::move(result.shape);
    result.shape = cache.shape;
    result.shape[axis] = Dim(alias.total);
    return result;
}

bool GraphBuilder::is_appended(const Operand& operand, const std::string& input) const {
    const auto cache = caches_.find(input);
    return cache != caches_.end() && operand.id && cache->second.after == operand.id && !operand.room.empty();
}

LinearForm GraphBuilder::extent(const Dim& dim) const {
    for (const auto& [input, cache] : caches_)
        if (dim.symbol == cache.alias.held) {
            const LinearForm held{.constant = -cache.alias.rows, .terms = {{cache.alias.total, 1}}};
            return sum(LinearForm{}, held, dim.factor);
        }
    return linear_form(dim);
}

std::optional<Forms> GraphBuilder::folded_forms(const Definition& definition,
                                                const std::vector<OperatorText::Tensor>& operands) const {
    std::vector<Forms> contents;
    for (const OperatorText::Tensor& tensor : operands) {
        const bool is_integer = tessera::is_integer(tensor.operand.element());
        const bool has_places = tensor.operand.places.has_value();
        std::optional<Forms> forms = has_places   ? tensor.operand.places
                                     : is_integer ? forms_of(tensor.operand)
                                                  : std::nullopt;
        if (!forms) return std::nullopt;
        contents.push_back(*std::move(forms));
    }
    contents.emplace_back();
    std::vector<int64_t> any;
    for (const DimSymbol& symbol : definition.dims) any.push_back(symbol.low);
    std::optional<Forms> forms =
        fold_forms(definition, bound_extents(definition, any, origin_), contents, graph_.symbols);
    return forms && forms->size() <= kMostForms ? std::move(forms) : std::nullopt;
}

/// A node whose elements are the forms; an operand with the same forms has the same one.
ValueId GraphBuilder::value_of_forms(const Operand& operand) {
    OperatorText text("op_extents");
    std::vector<std::string> axes;
    std::string position;
    for (size_t axis = 0; axis < operand.rank(); ++axis) {
        axes.push_back(fmt::format("x{}", axis));
        text.over(axes.back(), operand.shape[axis]);
        position = axis == 0
                       ? axes.back()
                       : fmt::format("({}) * {} + {}", position, operand.shape[axis].factor, axes.back());
    }
    const Forms& forms = operand.forms.value();
    std::string body = form_text(forms.back());
    for (size_t i = forms.size() - 1; i > 0; --i)
        body = fmt::format("select({} == {}, {}, {})", position, i - 1, form_text(forms[i - 1]), body);
    text.write(operand.type, operand.shape, axes, body);
    const auto found = forms_.find(text.text());
    if (found != forms_.end()) return found->second;
    return forms_[text.text()] = *add_node(text).id;
}

ValueId GraphBuilder::value_of(const Operand& operand) {
    if (operand.id) return *operand.id;
    if (operand.forms) return value_of_forms(operand);
    const TensorContents& contents = operand.known.value();
    const ElementType element = operand.element();
    const std::vector<Dim> shape = stored_shape(operand.shape);
    std::vector<ValueId>& same = constants_[contents.bytes.data()];
    for (const ValueId id : same)
        if (graph_[id].type.shape == shape && graph_[id].type.element == element) return id;
    const std::string name = fresh(prefix_ + "_constant");
    weights_->add(name,
                  {.type = std::string(tessera::name(element)),
                   .element = element,
                   .shape = evaluate(shape, {}),
                   .bytes = contents.bytes},
                  contents.owner);
    const ValueId id{static_cast<int>(graph_.values.size())};
    graph_.values.push_back({.name = name,
                             .kind = ValueKind::kConstant,
                             .type = {.element = element, .shape = shape},
                             .sources = {name},
                             .concatenation = {},
                             .is_finite = !is_integer(element) && are_finite(contents.bytes, element)});
    same.push_back(id);
    return id;
}

Operand GraphBuilder::add(const OperatorText& text) {
    const std::vector<OperatorText::Tensor> operands = text.operands();
    const std::vector<Dim>& shape = text.result_shape();
    check_size(shape);
    if (std::ranges::find(shape, Dim(0)) != shape.end() && std::ranges::all_of(shape, &Dim::is_constant))
        return known_numbers(text.result_type(), evaluate(shape, {}), {});
    if (text.iterations() == 0) return add(text.of_nothing());
    const auto is_known = [](const OperatorText::Tensor& tensor) {
        return tensor.operand.known || tensor.operand.forms;
    };
    if (!std::ranges::all_of(operands, is_known)) return add_node(text);
    int64_t elements = 1;
    for (const Dim& dim : shape) elements *= dim.factor;
    if (text.iterations() > kMostFolded || elements > kMostKnown) return add_node(text);
    const DefinitionPtr definition = ops::define(graph_.symbols, text.text());
    const std::string& where = origin_;
    verify(*definition, where);
    // Forms are integers of 64 bits, which the interpreter does not hold.
    const auto needs_forms = [](const OperatorText::Tensor& tensor) {
        return tensor.operand.forms || !is_exact(tensor.operand);
    };
    if (!definition->dims.empty() || std::ranges::any_of(operands, needs_forms)) {
        std::optional<Forms> folded = folded_forms(*definition, operands);
        if (!folded) return add_node(text);
        return operand_of_forms(text.result_type(), shape, *std::move(folded));
    }
    std::vector<TensorData> contents;
    for (const OperatorText::Tensor& tensor : operands) contents.push_back(data_of(tensor.operand));
    contents.emplace_back();
    if (text.result_type() == DataType::kUint64 && !only_chooses(*definition)) return add_node(text);
    const std::vector<TensorData> results =
        interpret(*definition, bound_extents(*definition, {}, where), contents, where);
    Operand folded =
        known_numbers(text.result_type(), evaluate(text.result_shape(), {}), results.front().values);
    return is_exact(folded) ? std::move(folded) : add_node(text);
}

Operand GraphBuilder::add_node(const OperatorText& text) {
    const DefinitionPtr definition = ops::define(graph_.symbols, text.text());
    verify(*definition, origin_);
    Node node{.name = fresh(prefix_), .op = definition, .operands = {}, .results = {}, .previous = {}};
    const std::vector<OperatorText::Tensor> operands = text.operands();
    for (const OperatorText::Tensor& tensor : operands) {
        if (std::ranges::find(tensor.operand.shape, Dim(0)) != tensor.operand.shape.end())
            throw Error("", "", "reads an array without elements, and others that are not known");
        if (tensor.operand.may_exceed && (tensor.is_index || !is_modular(*definition)))
            throw Error(
                "", "",
                "orders, divides or converts numbers of UINT64 that are computed and may be 2^63 or more",
                "cast them to INT64 before");
        node.operands.push_back(value_of(tensor.operand));
    }
    Operand result{.type = text.result_type(), .shape = text.result_shape(), .known = {}, .id = {}};
    result.id = ValueId{static_cast<int>(graph_.values.size())};
    node.results = {*result.id};
    graph_.values.push_back(
        {.name = fresh(node.name + "_result"),
         .kind = ValueKind::kIntermediate,
         .type = {.element = result.element(),
                  .shape = stored_shape(result.shape),
                  .accumulator = definition->accumulator,
                  .rounding = is_half(result.element()) ? Rounding::kWeights : Rounding::kExact},
         .sources = {}});
    const auto exceeds = [](const OperatorText::Tensor& tensor) { return tensor.operand.may_exceed; };
    result.may_exceed = result.type == DataType::kUint64 &&
                        (!only_chooses(*definition) || std::ranges::any_of(operands, exceeds));
    if (is_integer(result.element()) && !result.is_static())
        result.places = folded_forms(*definition, operands);
    origins_[node.name] = origin_;
    graph_.blocks.front().nodes.push_back(std::move(node));
    return result;
}

Operand GraphBuilder::with_shape(const Operand& operand, std::vector<Dim> shape) {
    Operand result = operand;
    if (operand.shape == shape) return result;
    if (volume_of(operand.shape) != volume_of(shape))
        throw Error("", "",
                    fmt::format("has an array of the shape {}, expected as many elements as {} has",
                                shape_text(operand.shape), shape_text(shape)));
    result.shape = std::move(shape);
    // A constant of another shape is another value of the same bytes; so is a scalar, which is stored as [1].
    if (operand.known || operand.forms) {
        result.id.reset();
        return result;
    }
    if (operand.room.empty() && stored_shape(operand.shape) == stored_shape(result.shape)) return result;
    return add_node(reshape_text(operand, result.shape));
}

void GraphBuilder::output(const Operand& operand) {
    graph_.outputs.push_back(operand.id.value());
}

}  // namespace tessera::import::onnx
