#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::grammar {

/// The limits of a grammar. Grammars come with requests, which cannot be trusted.
struct Limits {
    size_t text_bytes = size_t{1} << 20;  ///< of its source
    int depth = 100;                      ///< of groups, or of schemas, inside each other
    size_t nodes = 200'000;               ///< parts of its rules
    int64_t repetitions = 10'000;         ///< counted ones, of one part
    size_t states = 200'000;              ///< of its automaton, repetitions written out
    size_t edges = 2'000'000;

    bool operator==(const Limits&) const = default;
};

}  // namespace tessera::grammar
