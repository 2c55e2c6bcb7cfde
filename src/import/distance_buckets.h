#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/term.h"

namespace tessera::import {

/// Terms of scores that depend on the distance of a key alone: small distances have a row of a learned table
/// each, larger ones share rows, by steps that grow, up to `farthest`. Source: Raffel et al., "Exploring the
/// Limits of Transfer Learning with a Unified Text-to-Text Transformer" (T5), 2020, section 2.1, and its
/// code, whose logarithms are of F32.
struct DistanceBuckets {
    std::string table;        ///< the tensor in the text, [buckets, heads]
    int64_t farthest = 128;   ///< from here on all have the last row
    bool is_of_both = false;  ///< later tokens have the upper half of the rows; else the row of distance 0

    /// The row of a key that stands so many places behind its query, or before it if negative.
    int64_t row(int64_t distance, int64_t buckets) const;
    /// A row for each distance from 1 - positions to positions - 1, of a table [buckets, heads].
    std::vector<float> spread(const std::vector<float>& rows, int64_t buckets, int64_t positions) const;
    /// The name of the constant for a stored table.
    std::string source(const std::string& stored) const;
};

/// The buckets that a call buckets(W, farthest, both: true) means; empty for other terms.
std::optional<DistanceBuckets> distance_buckets_in(const Term& term);

}  // namespace tessera::import
