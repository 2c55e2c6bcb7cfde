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
/// stored one transposed, or some rows of each of its groups:
///
///     gates and ups of experts, stored [2 experts, 2 + 2 rows, inputs]: rows 0 to 1 of each group
///
///     g0 g0 u0 u0 | g1 g1 u1 u1    ->    g0 g0 g1 g1
struct LayerView {
    std::string stored;  ///< behind the name of the layer: "self_attn.qkv_proj.weight"
    std::string name;    ///< in its place: "self_attn.qkv_proj.weight[0:48]", "attn.c_attn.weight^T[0:48]"
    int64_t first = 0;   ///< rows [first, first + rows) of `total`, in each group
    int64_t rows = 0;
    int64_t total = 0;
    int64_t groups = 1;  ///< the outermost axis of a tensor with three
    bool is_transposed = false;
};

/// Tensors of a layer that may be stored together.
struct StoredTogether {
    std::string stored;  ///< behind the name of the layer
    std::vector<LayerTensor> tensors;
    int64_t groups = 1;
};

/// Makes these tensors of every layer views of one stored tensor, which holds their rows in this order, in
/// each of the groups. The sizes of the configuration must be read.
void split(DecoderConfig& config, const std::string& stored, std::span<const LayerTensor> tensors,
           bool is_transposed = false, int64_t groups = 1);

/// Splits those of `config.stored_together` that the checkpoint stores.
void split_what_is_stored(DecoderConfig& config, const WeightSource& checkpoint);

/// The tensors of a checkpoint, in which the views take the place of the stored tensors. A stored tensor that
/// has not the rows of all its views keeps its shape under the names of the views, so that it is found wrong.
/// Tensors whose contents are made on demand, as packed ones are, have rows like others; they are never
/// transposed, since packing knows inputs and outputs.
class TensorViews : public WeightSource {
public:
    /// `config` says the views.
    TensorViews(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    std::unique_ptr<TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct View {
        StoredTensor tensor;
        std::string stored;  ///< the whole name
        LayerView form;
        bool is_made = false;        ///< when it is asked for
        bool is_transposed = false;  ///< the stored tensor
    };

    /// As it is stored if it has not the rows that its views share.
    static View described(const StoredTensor& stored, const LayerView& form);

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, View, std::less<>> views_;
    std::set<std::string, std::less<>> hidden_;  ///< stored tensors that have views
};

}  // namespace tessera::import
