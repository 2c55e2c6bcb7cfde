#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "import/decoder_tensors.h"
#include "import/weights.h"

namespace tessera::import {

struct DecoderConfig;

/// A tensor of each layer that is some rows of a stored one, as Q, K and V of a fused projection are, or the
/// stored one transposed.
struct LayerView {
    std::string stored;  ///< behind the name of the layer: "self_attn.qkv_proj.weight"
    std::string name;    ///< in its place: "self_attn.qkv_proj.weight[0:48]", "attn.c_attn.weight^T[0:48]"
    int64_t first = 0;   ///< rows [first, first + rows) of `total`
    int64_t rows = 0;
    int64_t total = 0;
    bool is_transposed = false;
};

/// Makes these tensors of every layer views of one stored tensor, which holds their rows in this order. The
/// sizes of the configuration must be read.
void split(DecoderConfig& config, const std::string& stored, std::span<const LayerTensor> tensors,
           bool is_transposed = false);

/// The tensors of a checkpoint, in which the views take the place of the stored tensors. A stored tensor that
/// has not the rows of all its views keeps its shape under the names of the views, so that it is found wrong.
class TensorViews : public WeightSource {
public:
    /// `config` says the views.
    TensorViews(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct View {
        StoredTensor tensor;
        std::string stored;    ///< the whole name
        int64_t first = 0;     ///< row of the transposed tensor
        bool is_made = false;  ///< transposed when it is asked for
    };

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, View, std::less<>> views_;
    std::set<std::string, std::less<>> hidden_;  ///< stored tensors that have views
};

}  // namespace tessera::import
