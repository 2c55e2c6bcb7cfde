#pragma once

#include <cstdint>

namespace tessera::cost {

/// True if a cache loses some of these pieces of memory because they share its sets. A way is taken to be as
/// large as a page of 4 KiB, as in first caches that look up a line before its address is translated (x86),
/// so that pieces at a distance of 4 KiB all lie in the same sets. Pieces that share none are never said to
/// be lost, however many they are: prefetchers follow such distances.
bool exceed_shared_sets(int64_t pieces, int64_t distance_bytes, int64_t piece_bytes, int64_t capacity_bytes,
                        int64_t line_bytes);

}  // namespace tessera::cost
