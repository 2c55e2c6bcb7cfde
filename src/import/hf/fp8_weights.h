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

/// The tensors of a folder whose matrices are floats of eight bits (F8_E4M3, F8_E5M2) with scales that
/// multiply them, floats or powers of two (F8_E8M0): X with X_scale_inv, one for each block of rows and
/// columns, or with X_scale, one for all or for each row. They appear as X of type BF16 if that holds every
/// product, as with powers of two, and otherwise of type F32, which rounds a product once, as PyTorch does.
/// Experts may lie together, with one more axis in front of both.
///
///     weight [N, K] f8   weight_scale_inv [N up to 128, K up to 128]
///
/// A matrix that does not fit keeps a type that says why. Sources: Micikevicius et al., "FP8 Formats for Deep
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
        int64_t matrix_rows = 1;  ///< of one of several matrices
        int64_t scales_of_matrix = 0;
    };
    void add(const std::string& name);
    /// Finds the scale of each element; false if they do not fit.
    bool find_places(const std::vector<int64_t>& shape, const StoredTensor& scale, Matrix& matrix) const;

    std::shared_ptr<const WeightSource> checkpoint_;
    PackedForm form_;
    std::map<std::string, Matrix, std::less<>> matrices_;
    std::set<std::string, std::less<>> hidden_;  ///< scales
};

/// The numbers of the types, by their bits. Sources: as above, table 1; Open Compute Project, "Microscaling
/// Formats", 2023, 5.4.1.
double value_of_e4m3(uint8_t bits);
double value_of_e5m2(uint8_t bits);
double value_of_e8m0(uint8_t bits);

}  // namespace tessera::import
