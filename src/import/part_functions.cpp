#include <limits>

#include <fmt/format.h>

#include "import/part_builder.h"
#include "ir/ops/experts.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/matmul.h"
#include "ir/ops/reshape.h"
#include "ir/ops/rms_norm.h"
#include "ir/ops/rope.h"
#include "ir/ops/rows.h"
#include "support/error.h"

// The functions of an architecture's text as nodes: docs/architectures.md says what each of them computes.

namespace tessera::import {
namespace {

/// An extent that is written in the text.
int64_t extent_of(const PartStep& step, size_t index) {
    const TermPtr& term = step.term->arguments.at(index);
    const bool is_extent = term->kind == Term::Kind::kNumber && term->is_integer && term->number >= 1;
    if (!is_extent)
        throw Error(step.where, step.name(),
                    fmt::format("has an extent of {}, expected a positive integer", print(term)));
    return static_cast<int64_t>(term->number);
}

}  // namespace

double number_option(const PartStep& step, const char* option, double otherwise) {
    const TermPtr term = step.term->option(option);
    if (!term || term->is_name("null")) return otherwise;
    if (term->is_name("inf")) return std::numeric_limits<double>::infinity();
    if (term->kind != Term::Kind::kNumber)
        throw Error(step.where, step.name(),
                    fmt::format("has {}: {}, expected a number", option, print(term)));
    return term->number;
}

ValueId PartBuilder::call(const PartStep& step) {
    const std::string& f = step.term->name;
    if (f == "lookup") return lookup(step);
    if (f == "linear") return linear(step);
    if (f == "rms" || f == "layernorm") return norm(step, step.name(), wanted_type(step.name()));
    if (f == "shape") return shape(step);
    if (f == "join") return join(step);
    if (f == "rotate") return rotate(step);
    if (f == "sine" || f == "cosine") return waves(step);
    if (f == "attend") return attend(step);
    if (f == "spread") return spread(step);
    if (f == "softmax") return softmax(step);
    if (f == "top") return top(step);
    if (f == "pick") return pick(step);
    if (f == "rows") return rows(step);
    if (f == "experts") return experts(step);
    if (f == "each") return each(step);
    if (f == "shares") return shares(step);
    if (f == "mix") return mix(step);
    fail(step, fmt::format("calls {}, which cannot stand here", f));
}

ValueId PartBuilder::lookup(const PartStep& step) {
    const SpecTensor& table = tensor(step, 0);
    if (!step.term->arguments[1]->is_name("token")) fail(step, "looks up another row than that of the token");
    if (table.shape.size() != 2) fail(step, "looks up rows of a tensor without rows");
    const std::vector<ValueId> stored = weight(step.term->arguments[0]->name);
    ValueId ids = step_.inputs.tokens;
    // Tokens that a smaller table has not have its first row.
    if (table.shape[0] < step_.spec.vocabulary)
        ids = builder_.add(node_name(step.name() + "_ids"),
                           ops::known_ids(symbols(), step_.rows, table.shape[0]), {ids});
    return builder_.add(node_name(step.name()),
                        ops::embedding(symbols(), step_.rows, table.shape[0], table.shape[1], table.format,
                                       number_option(step, "scale", 1)),
                        joined({ids}, stored));
}

/// X + E[position + first]. The place is `position` or `position + FIRST`.
ValueId PartBuilder::add_lookup(const PartStep& step) {
    const TermPtr& place = step.term->arguments[2];
    const bool is_shifted = place->is_call("+") && place->arguments[0]->is_name("position") &&
                            place->arguments[1]->kind == Term::Kind::kNumber &&
                            place->arguments[1]->is_integer;
    if (!is_shifted && !place->is_name("position"))
        fail(step, "looks up a row that is neither position nor position + N");
    const SpecTensor& table = tensor(step, 1);
    const ValueId x = argument(step, 0);
    const int64_t first = is_shifted ? static_cast<int64_t>(place->arguments[1]->number) : 0;
    // Every source has so many tokens: its positions, and those of the rest, are fewer than those of a
    // sequence.
    const std::optional<SourceFeatures>& features = step_.spec.features;
    const int64_t needed =
        features ? std::min(features->count, step_.limits.context - features->count) : step_.limits.context;
    if (table.shape.size() != 2 || shape_of(step, x, 1)[0] != table.shape[1] ||
        needed > table.shape[0] - first)
        fail(step, fmt::format("has rows for {} positions of width {}", table.shape[0] - first,
                               table.shape.back()));
    const std::vector<ValueId> stored = weight(step.term->arguments[1]->name);
    ValueId position = step_.inputs.position;
    // Tokens of the other part have a row that nobody reads.
    if (step_.limits.context > table.shape[0] - first)
        position = builder_.add(node_name(step.name() + "_rows"),
                                ops::known_ids(symbols(), step_.rows, table.shape[0] - first), {position});
    return builder_.add(
        node_name(step.name()),
        ops::add_positions(symbols(), step_.rows, table.shape[0], table.shape[1], table.format, first),
        joined({position, x}, stored));
}

ValueId PartBuilder::linear(const PartStep& step) {
    const std::string& matrix = step.term->arguments[1]->name;
    const SpecTensor& own = tensor(step, 1);
    const std::string& name = step.term->arguments[0]->name;
    const std::vector<int64_t> x = shape_of(step, argument(step, 0), 1);
    if (own.shape.size() != 2 || x[0] != own.shape[1])
        fail(step, fmt::format("multiplies {} of width {} by {}, which is no matrix with such rows", name,
                               x[0], matrix));
    const Factor factor = factor_of(name);
    std::vector<ValueId> operands = joined(factor.operands, weight(matrix));
    std::optional<ElementType> bias_type;
    if (const auto bias = part_.tensors.find(bias_of(matrix)); bias != part_.tensors.end()) {
        bias_type = ops::element_of(bias->second.format);
        operands = joined(std::move(operands), weight(bias_of(matrix)));
    }
    return builder_.add(node_name(step.name()),
                        ops::matmul(symbols(), {rows_of(factor.operands[0]), own.shape[0], own.shape[1]},
                                    own.format, bias_type, factor.form),
                        std::move(operands));
}

ValueId PartBuilder::norm(const PartStep& step, const std::string& node, ElementType result) {
    const ValueId x = argument(step, 0);
    const std::vector<Dim>& shape = step_.graph[x].type.shape;
    const double epsilon = number_option(step, "eps", 0), plus = number_option(step, "plus", 0);
    const bool is_rms = step.is_call("rms");
    if (shape.size() < 2 || shape.size() > 3)
        fail(step, "normalises a value that is no vector for each token");
    std::vector<ValueId> operands = {x};
    if (step.term->arguments.size() == 2) {
        const std::string& scale = step.term->arguments[1]->name;
        const SpecTensor& own = tensor(step, 1);
        const std::vector<int64_t> whole = shape_of(step, x, shape.size() - 1);
        const bool has_one_axis = own.shape.size() == 1 && own.shape[0] == whole.back();
        if (!has_one_axis && own.shape != whole)
            fail(step, fmt::format("normalises {} numbers, and {} has others", whole.back(), scale));
        operands = joined(std::move(operands), weight(scale));
        if (part_.tensors.contains(bias_of(scale)))
            operands = joined(std::move(operands), weight(bias_of(scale)));
    }
    return builder_.add(node_name(node),
                        is_rms ? ops::rms_norm(epsilon, plus) : ops::layer_norm(epsilon, plus),
                        std::move(operands), typed(x, result));
}

ValueId PartBuilder::shape(const PartStep& step) {
    const ValueId x = argument(step, 0);
    const std::vector<Dim> from = step_.graph[x].type.shape;
    const ElementType type = step_.graph[x].type.element;
    int64_t count = 1;
    for (size_t i = 1; i < from.size(); ++i) count *= from[i].factor;
    const int64_t first = extent_of(step, 1);
    if (step.term->arguments.size() == 2) {
        if (first != count) fail(step, fmt::format("makes {} numbers of {}", first, count));
        if (from.size() == 2) return x;
        return builder_.add(node_name(step.name()),
                            ops::merge_heads(symbols(), from[0], from[1].factor, from[2].factor, type), {x});
    }
    const int64_t second = extent_of(step, 2);
    if (first * second != count || from.size() > 3)
        fail(step, fmt::format("makes {} times {} numbers of {}", first, second, count));
    if (from.size() == 3 && from[1] == Dim(first)) return x;
    const ValueId flat =
        from.size() == 2
            ? x
            : builder_.add(node_name(step.name() + "_flat"),
                           ops::merge_heads(symbols(), from[0], from[1].factor, from[2].factor, type), {x});
    return builder_.add(node_name(step.name()), ops::split_heads(symbols(), from[0], first, second, type),
                        {flat});
}

/// Each result is a node that reads its own part of the last axis.
void PartBuilder::split(const PartStep& step) {
    const ValueId x = argument(step, 0);
    if (step.names.size() + 1 != step.term->arguments.size())
        fail(step,
             fmt::format("has {} names for {} parts", step.names.size(), step.term->arguments.size() - 1));
    const std::vector<Dim> from = step_.graph[x].type.shape;
    if (from.size() != 2 && from.size() != 3) fail(step, "splits a value that is no vector for each token");
    int64_t begin = 0;
    for (size_t i = 0; i < step.names.size(); ++i) {
        const int64_t width = extent_of(step, i + 1);
        if (begin + width > from.back().factor)
            fail(step, fmt::format("takes more than the {} numbers that there are", from.back().factor));
        finish(step.names[i], builder_.add(node_name(step.names[i]),
                                           taken_part(symbols(), step_.graph[x].type, begin, width), {x}));
        begin += width;
    }
    if (begin != from.back().factor)
        fail(step, fmt::format("takes {} of {} numbers", begin, from.back().factor));
}

/// Values of one number of axes and heads, or of one head, side by side.
ValueId PartBuilder::join(const PartStep& step) {
    std::vector<ValueId> ids;
    std::vector<TensorType> types;
    Dim heads(1);
    for (size_t i = 0; i < step.term->arguments.size(); ++i) {
        ids.push_back(argument(step, i));
        types.push_back(step_.graph[ids.back()].type);
        const std::vector<Dim>& shape = types.back().shape;
        if (shape.size() == 3 && heads == Dim(1)) heads = shape[1];
        const bool fits = shape.size() == types[0].shape.size() && (shape.size() == 2 || shape.size() == 3) &&
                          types.back().element == types[0].element &&
                          (shape.size() == 2 || shape[1] == heads || shape[1] == Dim(1));
        if (!fits) fail(step, "joins values of other axes or heads");
    }
    return builder_.add(node_name(step.name()), joined_parts(symbols(), types), std::move(ids));
}

RopeTablesOfStep PartBuilder::rope(const PartStep& step, size_t index) const {
    const TermPtr& name = step.term->arguments[index];
    const auto tables = step_.ropes.find(name->name);
    if (name->kind != Term::Kind::kName || tables == step_.ropes.end())
        fail(step, fmt::format("reads {}, expected rotary tables", print(name)));
    return tables->second;
}

/// Sines or cosines of the angles of a token's position.
ValueId PartBuilder::waves(const PartStep& step) {
    const RopeTablesOfStep tables = rope(step, 0);
    const int64_t pairs = step_.spec.ropes.at(step.term->arguments[0]->name).pairs();
    return builder_.add(node_name(step.name()),
                        rows_at_positions(symbols(), step_.rows, step_.limits.context, pairs),
                        {step_.inputs.position, step.is_call("sine") ? tables.sin : tables.cos});
}

ValueId PartBuilder::rotate(const PartStep& step) {
    const ValueId x = argument(step, 0);
    const std::vector<int64_t> shape = shape_of(step, x, 2);
    const RopeTablesOfStep tables = rope(step, 1);
    const int64_t rotated = 2 * step_.spec.ropes.at(step.term->arguments[1]->name).pairs();
    if (rotated > shape[1]) fail(step, fmt::format("rotates {} of {} numbers", rotated, shape[1]));
    const auto is_set = [&](const char* option) {
        const TermPtr value = step.term->option(option);
        return value && value->is_name("true");
    };
    const ops::RopeShape form{rows_of(x), shape[0], shape[1], step_.limits.context, rotated, is_set("back")};
    return builder_.add(
        node_name(step.name()),
        ops::rope(symbols(), form, is_set("pairs") ? ops::RopeForm::kPairs : ops::RopeForm::kHalves),
        {step_.inputs.position, x, tables.cos, tables.sin});
}

ValueId PartBuilder::softmax(const PartStep& step) {
    const ValueId x = argument(step, 0);
    const int64_t width = shape_of(step, x, 1)[0];
    const std::string name = node_name(step.name());
    const ValueId largest =
        builder_.add(name + "_largest", ops::largest_score(symbols(), {rows_of(x), width, width}), {x});
    const ValueId weights =
        builder_.add(name + "_weights", shifted_exponentials(symbols(), rows_of(x), width), {x, largest});
    const ops::ExpertShape all{rows_of(x), width, width};
    const ValueId sum = builder_.add(name + "_sum", ops::sum_of_places(symbols(), all), {weights});
    return builder_.add(name, ops::place_shares(symbols(), all), {weights, sum});
}

}  // namespace tessera::import
