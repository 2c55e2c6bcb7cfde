#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backend/code.h"
#include "machine/machine.h"

namespace tessera::measure {

/// How a compute unit is kept busy: a register block of `rows` x `groups` sums of `lanes` lanes.
struct UnitProbe {
    std::string name;   ///< of its functions
    int64_t lanes = 0;  ///< of the sums
    int64_t depth =
        1;  ///< neighbours along k that one operation adds: 1, 2 of pairs, 4 of bytes, those of a tile
    int64_t tile_rows = 0;  ///< of a matrix unit; `rows` are that of several tiles then
    int64_t rows = 0;
    int64_t groups = 0;
    int64_t element_bytes = 0;  ///< of a factor

    /// The operations of one call of the functions below.
    double register_operations(int64_t steps) const;
    double fed_operations(int64_t n, int64_t k) const;
};

/// None for a unit that NTT has no products for.
std::optional<UnitProbe> probe_of(const machine::ComputeUnit& unit);

/// `steps` products into every sum of the block.
using RegisterFunction = void (*)(int64_t steps);
/// A[rows, k], B packed in groups of n, C[rows, n]: floats, or of tiles of bytes int32_t; n is a multiple of
/// lanes x groups, k of depth and, for bytes, of 64.
using FedFunction = void (*)(const void* a, const void* b, void* c, int64_t n, int64_t k);
std::string register_function(const UnitProbe& probe);
std::string fed_function(const UnitProbe& probe);
/// Appends the text as one more translation unit.
void add_unit(backend::Code& code, const std::string& text);
/// A unit of code for each probe.
backend::Code unit_code(std::span<const UnitProbe> probes, machine::Isa isa);

}  // namespace tessera::measure
