#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/hf/safetensors.h"
#include "import/weights.h"

namespace tessera::import {

/// A checkpoint in several safetensors files, the shards, beside an index `model.safetensors.index.json`:
///
///     {"metadata": {"total_size": 16}, "weight_map": {"a.weight": "model-00001-of-00002.safetensors", ...}}
///
/// The index only names the shards: all of their tensors count, wherever it says they lie. A tensor may lie
/// in several shards if it is the same in all. A shard is a file in the folder of the index: a name with a
/// slash, or that begins with a dot, is refused. Source: `from_pretrained` of HuggingFace transformers.
class ShardedSafetensors : public WeightSource {
public:
    /// Opens all shards. @throws Error naming the faulty index or shard, and the tensor.
    static ShardedSafetensors open(const std::string& index_path);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void release(std::string_view name) const override;

private:
    std::vector<SafetensorsFile> shards_;
    std::map<std::string, size_t, std::less<>> shard_of_;  ///< by tensor
};

}  // namespace tessera::import
