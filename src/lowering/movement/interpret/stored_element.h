#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/element_type.h"

/// Elements in memory as their values, which a double holds exactly.
namespace tessera::movement {

double element_value(const std::byte* memory, ElementType type, int64_t index);
/// Several elements `stride` apart.
void element_values(const std::byte* memory, ElementType type, int64_t index, int64_t stride, int64_t count,
                    double* values);
/// Stores the nearest value of the type. @pre an element has whole bytes
void set_element_value(std::byte* memory, ElementType type, int64_t index, double value);

}  // namespace tessera::movement
