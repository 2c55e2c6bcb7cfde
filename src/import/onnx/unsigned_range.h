#pragma once

#include "ir/definition.h"

/// Numbers of UINT64 from 2^63 on are held as the negative ones with the same bits: sums, products and bits
/// of them are right, their order and quotients are not.
namespace tessera::import::onnx {

/// True if what an operator stores is what it has read, or a number of its own: it makes no larger one.
bool only_chooses(const Definition& definition);
/// True if the bits of a result follow from those of operands as they do for larger numbers.
bool is_modular(const Definition& definition);

}  // namespace tessera::import::onnx
