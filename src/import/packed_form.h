#pragma once

#include <cstdint>
#include <optional>

namespace tessera::import {

/// How a folder packs matrices of four or eight bits.
struct PackedForm {
    enum class Method : uint8_t {
        kGptq,  ///< eight inputs of one output in a word
        kAwq,   ///< eight outputs of one input in a word, in an order of their own
        kFp8,   ///< floats of eight bits
    };
    Method method = Method::kGptq;
    int64_t zero_offset = 0;            ///< is added to the stored zero points
    std::optional<bool> is_symmetric;   ///< all zero points are 8
    std::optional<int64_t> group_size;  ///< inputs that share a scale; -1: all
    int64_t block_rows = 128;           ///< of floats, that share a scale: inputs are columns
    int64_t block_columns = 128;        ///< likewise
};

}  // namespace tessera::import
