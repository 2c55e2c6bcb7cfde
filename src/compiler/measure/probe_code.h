#pragma once

#include <cstdint>
#include <string>

#include "backend/code.h"
#include "compiler/measure/options.h"
#include "machine/machine.h"

namespace tessera::measure {

/// Code over NTT that is compiled for the machine, since the tool itself is not.

/// Reads a multiple of kReadStep * streams bytes as so many streams beside each other, prefetching `distance`
/// bytes ahead.
using ReadFunction = void (*)(const char* data, int64_t bytes, int64_t distance);
inline constexpr int64_t kReadStep = 256;

/// "read_2", "read_2_ahead".
std::string read_function(int64_t streams, bool prefetches);
/// Definitions of the read functions for one of kStreams each.
inline constexpr int64_t kStreams[] = {1, 2, 4};
std::string read_code(const machine::Machine& machine);

/// All that the roofs are measured with, the read functions and those of unit_code.h, in units for several
/// compilers.
backend::Code roof_code(const machine::Machine& machine);

/// The shared object of the text. @throws Error as compile_shared_object
std::string compile_probe(const backend::Code& code, const machine::Machine& machine,
                          const MeasureOptions& options);

}  // namespace tessera::measure
