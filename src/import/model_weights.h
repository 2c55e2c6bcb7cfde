#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/model_spec.h"
#include "import/weights.h"

namespace tessera::import {

/// All constants of a model's graph: the tensors of its checkpoint, and its rotary tables (rope_source) and
/// slopes and distances of attention (import/alibi.h, import/distance_buckets.h, import/spread_rows.h).
class ModelWeights : public WeightSource {
public:
    /// `positions`: of a sequence, rows of the tables. Factors of a GGUF file, such as rope_freqs.weight,
    /// divide the frequencies. @throws Error if they hold factors that are not positive.
    ModelWeights(std::shared_ptr<const WeightSource> checkpoint, const ModelConfig& config,
                 const ModelSpec& spec, int64_t positions);
    ModelWeights(const ModelWeights&) = delete;  // generated tensors point into the tables
    ModelWeights& operator=(const ModelWeights&) = delete;

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    std::unique_ptr<TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    void add_slopes(const Term& term);
    void add_distances(const Term& term, const SpecPart& layer, int64_t positions, const std::string& where);
    void add(const std::string& name, const std::vector<float>& contents, const std::vector<int64_t>& shape);

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, std::vector<float>>
        numbers_;                               ///< slopes and numbers of distances, by their sources
    std::map<std::string, RopeTables> tables_;  ///< by the names of the text
    std::map<std::string, StoredTensor, std::less<>> generated_;
};

}  // namespace tessera::import
