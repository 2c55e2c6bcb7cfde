#include "import/model_weights.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "import/decoder.h"
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
        if (!(factor > 0) || !(factor < 1e9f))
            throw Error(name, "", fmt::format("element {} is {}, expected a positive factor", i, factor));
        frequencies[i] /= factor;
    }
}

/// The factors of a GGUF file that count in this context, as llama.cpp chooses them.
const char* factors_of(const WeightSource& checkpoint, const DecoderConfig& config, int64_t context) {
    if (checkpoint.find(kRopeFactorsSource)) return kRopeFactorsSource;
    return context > config.rope.original_context ? kLongRopeFactorsSource : kShortRopeFactorsSource;
}

}  // namespace

ModelWeights::ModelWeights(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config,
                           int64_t positions)
    : checkpoint_(std::move(checkpoint)) {
    const int64_t width = config.size.head_width;
    const std::vector<int64_t> shape = {positions, rotated_pairs(config.rope, width)};
    if (config.form.has(LayerRope::kGlobal)) {
        std::vector<double> frequencies = rope_frequencies(config.rope, width, positions);
        const char* name = factors_of(*checkpoint_, config, positions);
        const StoredTensor* factors = config.is_gguf() ? checkpoint_->find(name) : nullptr;
        if (factors) divide_by_factors(*factors, name, frequencies);
        tables_ = rope_tables(frequencies, positions, config.rope.amplitude);
        add(kRopeCosSource, tables_.cos, shape);
        add(kRopeSinSource, tables_.sin, shape);
    }
    if (config.form.has(LayerRope::kLocal)) {
        local_tables_ = rope_tables(rope_frequencies(config.local_rope, width, positions), positions,
                                    config.local_rope.amplitude);
        add(kLocalRopeCosSource, local_tables_.cos, shape);
        add(kLocalRopeSinSource, local_tables_.sin, shape);
    }
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
