#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/packed_form.h"
#include "import/weights.h"

namespace tessera::import {

/// The tensors of a folder whose matrices are floats of eight bits (F8_E4M3, F8_E5M2) with scales: X.weight
/// with X.weight_scale_inv, one for each block of rows and columns, or with X.weight_scale, one for all or
/// for each row, which multiply it. They appear as X.weight of type BF16 where that holds every product, as
/// it does with scales that are powers of two, and otherwise of type F32, which rounds a product once, as
/// PyTorch does.
///
///     weight [N, K] f8   weight_scale_inv [N up to 128, K up to 128]
///
/// What does not fit keeps a type that says why. Sources: Micikevicius et al., "FP8 Formats for Deep
/// Learning" (2022); transformers, integrations/finegrained_fp8.py.
class Fp8Weights : public WeightSource {
public:
    Fp8Weights(std::shared_ptr<const WeightSource> checkpoint, PackedForm form);

    std::vector<std::string> names() const override;
    const StoredTensor* find(std::string_view name) const override;
    void release(std::string_view name) const override;
    TensorContents contents(std::string_view name) const override;

private:
    struct Matrix {
        StoredTensor tensor;
        std::string scale;              ///< name of the scales
        int64_t rows = 1, columns = 1;  ///< that share one
        int64_t scales_in_row = 1;
    };
    void add(const std::string& name);

    std::shared_ptr<const WeightSource> checkpoint_;
    PackedForm form_;
    std::map<std::string, Matrix, std::less<>> matrices_;
    std::set<std::string, std::less<>> hidden_;  ///< scales
};

/// The numbers of the two types, by their bits. Source: as above, table 1.
double value_of_e4m3(uint8_t bits);
double value_of_e5m2(uint8_t bits);

}  // namespace tessera::import
