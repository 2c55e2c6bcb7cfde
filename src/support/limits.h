#pragma once

#include <cstdint>

/// Numbers that several modules must agree on.
namespace tessera {

/// Size of a cache line, and of the widest vector: buffers begin at multiples of it.
inline constexpr int64_t kLineBytes = 64;
/// Size of a page of memory: the constants of an artefact begin at a multiple of it, since they are used
/// where the file is mapped.
inline constexpr int64_t kPageBytes = 4096;
/// Threads that compute one step together, at most.
inline constexpr int64_t kMostWorkers = 1024;

/// The next multiple of a line. @pre bytes >= 0, and at least a line below the largest number
constexpr int64_t rounded_to_lines(int64_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

/// The next multiple of a page. @pre bytes >= 0, and at least a page below the largest number
constexpr int64_t rounded_to_pages(int64_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace tessera
