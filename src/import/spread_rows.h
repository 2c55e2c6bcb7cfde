#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/term.h"

namespace tessera::import {

/// Rows of a learned table by the distance of a key from its query, as the text says it: spread(W, ROW),
/// where `distance` in ROW is how far the key stands behind its query, negative before it.
struct SpreadRows {
    std::string table;  ///< the tensor in the text
    TermPtr row;        ///< of `distance` alone

    /// A row for each distance from 1 - positions to positions - 1, of a table with so many rows.
    /// @throws Error naming `where` for a distance whose row does not exist
    std::vector<float> spread(const std::vector<float>& rows, int64_t count, int64_t positions,
                              const std::string& where) const;
    /// The name of the constant for a stored table.
    std::string source(const std::string& stored) const;
};

/// Empty for other terms.
std::optional<SpreadRows> spread_rows_in(const Term& term);

/// The rows of all distances from 1 - positions to positions - 1, of a table with so many rows.
std::vector<float> rows_of_distances(const std::vector<float>& rows, int64_t count, int64_t positions,
                                     const std::function<int64_t(int64_t)>& row_of);

}  // namespace tessera::import
