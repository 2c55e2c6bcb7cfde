#include "import/model_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "import/alibi.h"
#include "import/distance_buckets.h"
#include "import/model_spec.h"
#include "import/rope_bases.h"
#include "import/spread_rows.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import {
namespace {

void divide_by_factors(const StoredTensor& factors, const char* name, std::vector<double>& frequencies) {
    TESSERA_CHECK(
        factors.element == ElementType::kF32 && factors.bytes.size() == frequencies.size() * sizeof(float),
        "{} bytes of {}", factors.bytes.size(), factors.type);
    for (size_t i = 0; i < frequencies.size(); ++i) {
        float factor = 0;
        std::memcpy(&factor, factors.bytes.data() + i * sizeof(factor), sizeof(factor));
        // Factors as large as 1e30 leave a pair without a turn.
        if (!(factor > 0) || !std::isfinite(factor))
            throw Error(name, "", fmt::format("element {} is {}, expected a positive factor", i, factor));
        frequencies[i] /= factor;
    }
}

/// The factors of a GGUF file that count in this context, as llama.cpp chooses them.
const char* factors_of(const WeightSource& checkpoint, const RopeConfig& rope, int64_t context) {
    if (checkpoint.find(kRopeFactorsSource)) return kRopeFactorsSource;
    return context > rope.original_context ? kLongRopeFactorsSource : kShortRopeFactorsSource;
}

}  // namespace

ModelWeights::ModelWeights(std::shared_ptr<const WeightSource> checkpoint, const ModelConfig& config,
                           const ModelSpec& spec, int64_t positions)
    : checkpoint_(std::move(checkpoint)) {
    for (const SpecPart& layer : spec.layers)
        for (const PartStep& step : layer.steps)
            walk(step.term, [&](const Term& term) {
                add_slopes(term);
                add_distances(term, layer, positions, step.where);
            });
    for (const std::string& rope_name : rope_names(config)) {
        const ModelRope& rope = config.ropes.at(rope_name);
        std::vector<double> frequencies = rope_frequencies(rope.config, rope.width, positions);
        const char* name = factors_of(*checkpoint_, rope.config, positions);
        const bool is_main = rope_name == config.architecture->ropes.front().name;
        const StoredTensor* factors = config.is_gguf && is_main ? checkpoint_->find(name) : nullptr;
        if (factors) divide_by_factors(*factors, name, frequencies);
        const RopeTables& tables =
            tables_
                .emplace(rope_name,
                         rope_tables(frequencies, positions, rope.config.amplitude, rope.config.first))
                .first->second;
        const std::vector<int64_t> shape = {positions, rope.pairs()};
        add(rope_source(rope_name, true), tables.cos, shape);
        add(rope_source(rope_name, false), tables.sin, shape);
    }
}

void ModelWeights::add_slopes(const Term& term) {
    const std::optional<AlibiSlopes> slopes = alibi_slopes_in(term);
    if (!slopes || numbers_.contains(slopes->source())) return;
    const auto& values = numbers_.emplace(slopes->source(), slopes->values()).first->second;
    add(slopes->source(), values, {slopes->heads});
}

void ModelWeights::add_distances(const Term& term, const SpecPart& layer, int64_t positions,
                                 const std::string& where) {
    const std::optional<DistanceBuckets> buckets = distance_buckets_in(term);
    const std::optional<SpreadRows> spread = spread_rows_in(term);
    if (!buckets && !spread) return;
    const auto table = layer.tensors.find(buckets ? buckets->table : spread->table);
    if (table == layer.tensors.end()) return;
    const std::string source =
        buckets ? buckets->source(table->second.source) : spread->source(table->second.source);
    const std::optional<ElementType> element = ops::element_of(table->second.format);
    if (!element || numbers_.contains(source)) return;
    const TensorContents stored = checkpoint_->contents(table->second.source);
    const int64_t rows = table->second.shape[0], width = table->second.shape[1];
    std::vector<float> numbers;
    for (int64_t i = 0; i < rows * width; ++i)
        numbers.push_back(static_cast<float>(stored_number(stored.bytes, *element, static_cast<size_t>(i))));
    std::vector<float> all =
        buckets ? buckets->spread(numbers, rows, positions) : spread->spread(numbers, rows, positions, where);
    add(source, numbers_.emplace(source, std::move(all)).first->second, {2 * positions - 1, width});
}

void ModelWeights::add(const std::string& name, const std::vector<float>& contents,
                       const std::vector<int64_t>& shape) {
    generated_.emplace(name, StoredTensor{.type = "F32",
                                          .element = ElementType::kF32,
                                          .shape = shape,
                                          .bytes = std::as_bytes(std::span(contents))});
}

const StoredTensor* ModelWeights::find(std::string_view name) const {
    const auto found = generated_.find(name);
    return found == generated_.end() ? checkpoint_->find(name) : &found->second;
}

std::vector<std::string> ModelWeights::names() const {
    std::vector<std::string> all = checkpoint_->names();
    for (const auto& [name, tensor] : generated_) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

TensorContents ModelWeights::contents(std::string_view name) const {
    return generated_.contains(name) ? WeightSource::contents(name) : checkpoint_->contents(name);
}

std::unique_ptr<TensorRows> ModelWeights::open_rows(std::string_view name) const {
    return generated_.contains(name) ? WeightSource::open_rows(name) : checkpoint_->open_rows(name);
}

void ModelWeights::release(std::string_view name) const {
    if (!generated_.contains(name)) checkpoint_->release(name);
}

}  // namespace tessera::import
