#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

/// A fuzz target is one file `PARSER_fuzz.cpp` that defines the two functions below: a run of the parser on
/// bytes from outside, and valid inputs of the kinds that are too large or too binary for `corpus/PARSER/`.

/// libFuzzer's entry. The parser accepts the bytes or throws Error; anything else is a bug.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tessera::fuzz {

/// Valid inputs to begin with, besides those of the corpus.
std::vector<std::string> seeds();

inline std::string_view text_of(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Runs the parser; an Error is an answer.
template <typename Parse>
int accepts_or_throws_error(Parse&& parse) {
    try {
        parse();
    } catch (const Error&) {
    }
    return 0;
}

/// Receives both ends of the views that a parser returns, which must be readable.
inline volatile std::byte both_ends;
inline void read_ends(std::span<const std::byte> bytes) {
    if (!bytes.empty()) both_ends = bytes.front() ^ bytes.back();
}

}  // namespace tessera::fuzz
