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

/// The tensors of a folder whose matrices are packed integers of four bits with scales and zero points by
/// groups of inputs: X.qweight, X.qzeros and X.scales appear as X.weight of type INT4, in blocks of 32
/// elements:
///
///     INT4   d f16 | zero u8 | q x 16: byte j is element j, and j + 16 in its upper half
///
/// Nothing is rounded. The zero point of a symmetric matrix is 8: the version of GPTQ decides whether 7 or 8
/// is stored, whatever the settings say. A matrix that does not fit keeps a type that says why, and is named
/// among the unsupported ones.
/// Sources: AutoGPTQ, qlinear_cuda_old.py; AutoAWQ, packing_utils.py.
class PackedWeights : public WeightSource {
public:
    PackedWeights(std::shared_ptr<const WeightSource> checkpoint, PackedForm form);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct Matrix {
        StoredTensor tensor;
        std::string stem;  ///< before ".qweight"
        int64_t group = 0;
        int64_t zero_offset = 0;
    };
    void add(const std::string& stem);
    /// The fault in the groups or zero points of a matrix; empty if there is none.
    std::string complete(const StoredTensor& zeros, const StoredTensor* groups, Matrix& matrix) const;

    std::shared_ptr<const WeightSource> checkpoint_;
    PackedForm form_;
    std::map<std::string, Matrix, std::less<>> matrices_;
    std::set<std::string, std::less<>> hidden_;  ///< the parts of the matrices
};

}  // namespace tessera::import
