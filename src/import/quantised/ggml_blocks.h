#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/ops/weight_format.h"

namespace tessera::import {

/// Reads one operand of a weight out of ggml's blocks: the elements of one block, each as its pattern of bits
/// in a byte, or as the two bytes of an F16 or BF16. `block` has block_bytes(format) bytes, `to` one or two
/// bytes for each element. Lossless: the values of the block follow from the operands. Source: ggml-common.h
/// (structs block_q4_0 .. block_q6_K) and the reference dequantisation of ggml-quants.c.
using ReadOperand = void (*)(const uint8_t* block, uint8_t* to);

/// One for each operand of the format, in its order. @pre the format is quantised.
std::span<const ReadOperand> block_readers(ops::WeightFormat format);

/// Bytes of one of ggml's blocks. @pre the format is quantised.
size_t block_bytes(ops::WeightFormat format);

}  // namespace tessera::import
