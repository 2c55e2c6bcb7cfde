#include "import/spread_rows.h"

#include <fmt/format.h>

#include "import/architecture/evaluate.h"
#include "import/architecture/functions.h"
#include "support/error.h"

namespace tessera::import {

std::vector<float> SpreadRows::spread(const std::vector<float>& rows, int64_t count, int64_t positions,
                                      const std::string& where) const {
    return rows_of_distances(rows, count, positions, [&](int64_t distance) {
        const Scope scope = [&](const std::string& name) -> std::optional<Scalar> {
            if (name == kDistance) return Scalar{distance};
            return std::nullopt;
        };
        const int64_t found = integer_of(evaluate(row, scope, where), where);
        if (found < 0 || found >= count)
            throw Error(where, table,
                        fmt::format("has {} rows, and distance {} asks for row {}", count, distance, found));
        return found;
    });
}

std::string SpreadRows::source(const std::string& stored) const {
    return fmt::format("spread({}, {})", stored, print(row));
}

std::optional<SpreadRows> spread_rows_in(const Term& term) {
    if (!term.is_call("spread") || term.arguments[0]->kind != Term::Kind::kName) return std::nullopt;
    return SpreadRows{.table = term.arguments[0]->name, .row = term.arguments[1]};
}

std::vector<float> rows_of_distances(const std::vector<float>& rows, int64_t count, int64_t positions,
                                     const std::function<int64_t(int64_t)>& row_of) {
    const int64_t width = std::ssize(rows) / count;
    std::vector<float> all;
    all.reserve(static_cast<size_t>((2 * positions - 1) * width));
    for (int64_t distance = 1 - positions; distance < positions; ++distance) {
        const auto begin = rows.begin() + row_of(distance) * width;
        all.insert(all.end(), begin, begin + width);
    }
    return all;
}

}  // namespace tessera::import
