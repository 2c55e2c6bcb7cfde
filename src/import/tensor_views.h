#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "import/weights.h"

namespace tessera::import {

/// A tensor that is some rows of a stored one, as Q, K and V of a fused projection are, or the stored one
/// transposed, or some rows of each of its groups:
///
///     gates and ups of experts, stored [2 experts, 2 + 2 rows, inputs]: rows 0 to 1 of each group
///
///     g0 g0 u0 u0 | g1 g1 u1 u1    ->    g0 g0 g1 g1
///
/// or these with the matrix of each group transposed.
struct TensorView {
    std::string stored;     ///< "model.layers.0.self_attn.qkv_proj.weight"
    std::string name = {};  ///< ".. .weight[0:48]", ".. .weight^T[0:48]"; perhaps that of the stored one
    int64_t first = 0;      ///< rows [first, first + rows) of `total`, in each group
    int64_t rows = 0;
    int64_t total = 0;
    int64_t groups = 1;
    bool is_transposed = false;  ///< the stored tensor, or each of its matrices
    bool is_turned = false;      ///< the rows of each group
    bool is_flat = false;        ///< all numbers along one axis, whatever axes the stored tensor has
};

/// The tensors of a checkpoint, in which the views take the place of the stored tensors. A stored tensor that
/// has not the rows of all its views keeps its shape under the names of the views, so that it is found wrong.
/// Tensors whose contents are made on demand, as packed ones are, have rows like others; they are never
/// transposed, since packing knows inputs and outputs.
class TensorViews : public WeightSource {
public:
    TensorViews(std::shared_ptr<const WeightSource> checkpoint, std::span<const TensorView> views);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    std::unique_ptr<TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct View {
        StoredTensor tensor;
        TensorView form;
        bool is_made = false;        ///< when it is asked for
        bool is_transposed = false;  ///< the stored tensor
        bool is_turned = false;
    };

    /// As it is stored if it has not the rows that its views share.
    static View described(const StoredTensor& stored, const TensorView& form);

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, View, std::less<>> views_;
    std::set<std::string, std::less<>> hidden_;  ///< stored tensors that have views
};

}  // namespace tessera::import
