#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "import/alibi.h"
#include "import/distance_buckets.h"
#include "import/part_builder.h"
#include "import/spread_rows.h"
#include "ir/ops/attention.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/reshape.h"
#include "support/error.h"

namespace tessera::import {
/// `x` [rows, heads, width] in its slots of a new state.
ValueId PartBuilder::stored(const std::string& node, ValueId x, int64_t heads, int64_t width,
                            ElementType type) {
    const ValueId state =
        step_.value({.name = node,
                     .kind = ValueKind::kState,
                     .type = {.element = type, .shape = {Dim("P"), ops::kPageSlots, heads, width}}});
    return builder_.update(
        node + "_update",
        ops::cache_update(symbols(), step_.rows, Dim("P"), heads, width, type, step_.graph[x].type.element),
        {step_.inputs.slot, x}, state);
}

/// The cache behind this step: a state, or one of bytes and one of their scales.
void PartBuilder::cache(const PartStep& step) {
    const ValueId x = argument(step, 0);
    const std::vector<int64_t> shape = shape_of(step, x, 2);
    const std::string node = node_name(step.name());
    if (const auto type = ops::element_of(step_.spec.cache)) {
        caches_[step.name()] = {stored(node, x, shape[0], shape[1], *type)};
        return;
    }
    const ops::Activation& blocks = ops::kInt8Blocks;
    if (shape[1] % blocks.block != 0)
        throw Error("cache type", step.name(),
                    fmt::format("is q8_0, whose blocks have {} numbers; the heads of this model have {}",
                                blocks.block, shape[1]),
                    "choose f16 or bf16");
    const ValueId merged =
        builder_.add(node + "_merged", ops::merge_heads(symbols(), step_.rows, shape[0], shape[1]), {x});
    const std::vector<ValueId> parts = ops::factor_operands(builder_, node, merged, blocks);
    const auto store = [&](const char* part, ValueId value, int64_t width, ElementType type) {
        const ValueId heads = builder_.add(
            node + part + "_heads",
            ops::split_heads(symbols(), step_.rows, shape[0], width, step_.graph[value].type.element),
            {value});
        return stored(node + part, heads, shape[0], width, type);
    };
    caches_[step.name()] = {store("_q", parts[0], shape[1], ElementType::kI8),
                            store("_d", parts[1], shape[1] / blocks.block, ElementType::kF16)};
}

/// A number for each head: a tensor, or the slopes of ALiBi, which are a constant of the graph.
ValueId PartBuilder::number_of_heads(const PartStep& step, const TermPtr& term, int64_t heads) {
    if (const std::optional<AlibiSlopes> slopes = alibi_slopes_in(*term)) {
        if (slopes->heads != heads)
            fail(step, fmt::format("has slopes of {} heads for {}", slopes->heads, heads));
        return step_.constant(node_name(step.name() + "_slopes"), ElementType::kF32, {heads},
                              {slopes->source()});
    }
    const auto tensor = part_.tensors.find(term->name);
    if (term->kind != Term::Kind::kName || tensor == part_.tensors.end() ||
        tensor->second.shape != std::vector<int64_t>{heads} || !ops::element_of(tensor->second.format))
        fail(step, fmt::format("reads {}, expected a tensor of floats with a number for each of {} heads",
                               print(term), heads));
    return weight(term->name).front();
}

/// The queries of an index, their weights, and its keys in the cache.
void PartBuilder::add_index(const PartStep& step, std::vector<ValueId>& operands) const {
    if (step_.spec.has_source) fail(step, "chooses keys of a text that is made of another");
    std::vector<ValueId> of_index;
    for (const char* option : {"index_queries", "index_weights"}) {
        const TermPtr term = step.term->option(option);
        const auto found = term ? values_.find(term->name) : values_.end();
        if (found == values_.end()) fail(step, fmt::format("chooses keys without {}", option));
        of_index.push_back(found->second);
    }
    const TermPtr keys = step.term->option("index_keys");
    const auto cached = keys ? caches_.find(keys->name) : caches_.end();
    if (cached == caches_.end() || cached->second.size() != 1)
        fail(step, "chooses keys without index_keys, a cache of numbers");
    of_index.push_back(cached->second[0]);
    const std::vector<int64_t> queries = shape_of(step, of_index[0], 2),
                               weights = shape_of(step, of_index[1], 1);
    const std::vector<Dim>& stored_keys = step_.graph[of_index[2]].type.shape;
    if (weights[0] != queries[0] || stored_keys[2] != Dim(1) || stored_keys[3] != Dim(queries[1]))
        fail(step, "chooses keys by an index whose heads or widths differ");
    operands.insert(operands.end(), of_index.begin(), of_index.end());
}

ops::AttentionPart PartBuilder::part_of(const PartStep& step) const {
    const TermPtr part = step.term->option("part");
    if (!part && step_.spec.has_source) fail(step, "attends to the source and the target at one time");
    if (!part) return ops::AttentionPart::kAll;
    const bool is_source = part->kind == Term::Kind::kText && part->name == "source";
    if (!is_source && (part->kind != Term::Kind::kText || part->name != "target"))
        fail(step, fmt::format("attends to the part {}, expected \"source\" or \"target\"", print(part)));
    return is_source ? ops::AttentionPart::kSource : ops::AttentionPart::kTarget;
}

/// A number for each distance and head, spread from a learned table.
ValueId PartBuilder::numbers_of_distances(const PartStep& step, const TermPtr& term, int64_t heads) {
    const std::optional<DistanceBuckets> buckets = distance_buckets_in(*term);
    const auto table = buckets ? part_.tensors.find(buckets->table) : part_.tensors.end();
    if (table == part_.tensors.end() || table->second.shape.size() != 2 || table->second.shape[1] != heads ||
        table->second.shape[0] < 4 || !ops::element_of(table->second.format))
        fail(step, fmt::format("reads {}, expected buckets of a table of four rows or more of {} heads",
                               print(term), heads));
    std::vector<std::string> sources;
    for (const std::string& stored : sources_(table->second, buckets->table))
        sources.push_back(buckets->source(stored));
    return step_.constant(node_name(step.name() + "_distances"), ElementType::kF32,
                          {2 * step_.limits.context - 1, heads}, std::move(sources));
}

/// The rows of a table, one for each distance: a value whose first axis is that of distances.
ValueId PartBuilder::spread(const PartStep& step) {
    const SpecTensor& table = tensor(step, 0);
    if (table.shape.size() != 2 || !ops::element_of(table.format))
        fail(step, "spreads a tensor that is no matrix of floats");
    const SpreadRows rows = *spread_rows_in(*step.term);
    std::vector<std::string> sources;
    for (const std::string& stored : sources_(table, rows.table)) sources.push_back(rows.source(stored));
    return step_.constant(node_name(step.name()), ElementType::kF32,
                          {2 * step_.limits.context - 1, table.shape[1]}, std::move(sources));
}

/// A vector for each distance and head, as wide as the queries.
ValueId PartBuilder::vectors_of_distances(const PartStep& step, const TermPtr& term,
                                          const std::vector<int64_t>& queries) const {
    const auto found = values_.find(term->name);
    const std::vector<Dim> expected = {2 * step_.limits.context - 1, queries[0], queries[1]};
    if (term->kind != Term::Kind::kName || found == values_.end() ||
        step_.graph[found->second].type.shape != expected)
        fail(step,
             fmt::format("reads {}, expected {} vectors of {} for each distance", print(term), queries[0],
                         queries[1]),
             "make them of spread(W, ROW)");
    return found->second;
}

ValueId PartBuilder::attend(const PartStep& step) {
    const auto cached = [&](size_t index) -> const std::vector<ValueId>& {
        const auto found = caches_.find(step.term->arguments[index]->name);
        if (found == caches_.end())
            fail(step, fmt::format("attends to {}, which is no cache", print(step.term->arguments[index])),
                 "write cache(..)");
        return found->second;
    };
    const ValueId q = argument(step, 0);
    const std::vector<ValueId>&keys = cached(1), &values = cached(2);
    const std::vector<int64_t> shape = shape_of(step, q, 2);
    const std::vector<Dim> stored_shape = step_.graph[keys[0]].type.shape;
    const std::vector<Dim> value_shape = step_.graph[values[0]].type.shape;
    if (shape[1] != stored_shape[3].factor || value_shape[2] != stored_shape[2] ||
        shape[0] % stored_shape[2].factor != 0)
        fail(step, fmt::format("has {} heads of {} for {} of {} in the cache", shape[0], shape[1],
                               stored_shape[2].factor, stored_shape[3].factor));
    const auto values_read = static_cast<int64_t>(
        std::clamp(number_option(step, "values", static_cast<double>(value_shape[3].factor)), 0.0, 1e9));
    if (values_read < 1 || values_read > value_shape[3].factor)
        fail(step, fmt::format("reads {} of {} numbers of each value", values_read, value_shape[3].factor));
    const bool is_exact = step_.spec.policy == Policy::kExact;
    const double window = number_option(step, "window", 0);
    const double ahead = number_option(step, "ahead", 0);
    // As many as there can be are all.
    const double chosen = std::min(number_option(step, "chosen", 0), 1e15);
    if (ahead < 0 || (ahead > 0 && !step_.spec.is_encoder))
        fail(step, "sees later tokens, which only those of a model that gives vectors do");
    const ops::AttentionForm form{
        .part = part_of(step),
        .scale = number_option(step, "scale", 1 / std::sqrt(static_cast<double>(shape[1]))),
        .rounded = is_exact ? ElementType::kF32 : ops::type_of_attended(step_.spec.cache),
        .cap = number_option(step, "cap", 0),
        // A window that is no shorter than the context never acts.
        .window = window < static_cast<double>(step_.limits.context) ? static_cast<int64_t>(window) : 0,
        .ahead =
            ahead < static_cast<double>(step_.limits.context) ? static_cast<int64_t>(ahead) : ops::kWhole,
        .chunk = static_cast<int64_t>(number_option(step, "chunk", 0)),
        .has_scales = !ops::element_of(step_.spec.cache),
        .has_slopes = step.term->option("slopes") != nullptr,
        .has_distances = step.term->option("distances") != nullptr,
        .has_query_distances = step.term->option("query_distances") != nullptr,
        .has_key_distances = step.term->option("key_distances") != nullptr,
        .chosen = static_cast<int64_t>(chosen) < step_.limits.context ? static_cast<int64_t>(chosen) : 0,
        .has_sinks = step.term->option("sinks") != nullptr};
    const StepInputs& in = step_.inputs;
    std::vector<ValueId> operands{q, keys[0], values[0], in.first, in.length, in.start, in.page};
    if (keys.size() > 1) operands.insert(operands.end(), {keys[1], values[1]});
    for (const char* option : {"slopes", "sinks"})
        if (const TermPtr of_heads = step.term->option(option))
            operands.push_back(number_of_heads(step, of_heads, shape[0]));
    if (const TermPtr distances = step.term->option("distances"))
        operands.push_back(numbers_of_distances(step, distances, shape[0]));
    for (const char* option : {"query_distances", "key_distances"})
        if (const TermPtr vectors = step.term->option(option))
            operands.push_back(vectors_of_distances(step, vectors, shape));
    if (form.part != ops::AttentionPart::kAll) operands.push_back(in.split);
    if (form.chosen > 0) add_index(step, operands);
    TensorType type = typed(q, wanted_type(step.name()));
    type.shape[2] = Dim(values_read);
    return builder_.add(node_name(step.name()), ops::attention(form), std::move(operands), std::move(type));
}

}  // namespace tessera::import
