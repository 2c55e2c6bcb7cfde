#pragma once

#include <cstdint>

namespace tessera::import {

/// How a folder packs matrices of four bits.
struct PackedForm {
    enum class Method : uint8_t {
        kGptq,  ///< eight inputs of one output in a word
        kAwq,   ///< eight outputs of one input in a word, in an order of their own
    };
    Method method = Method::kGptq;
    int64_t zero_offset = 0;  ///< is added to the stored zero points
};

}  // namespace tessera::import
