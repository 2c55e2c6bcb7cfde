#include "support/near_names.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera {
namespace {

constexpr size_t kMostNames = 5;

/// Insertions, deletions and exchanges of letters that turn one into the other (Levenshtein).
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t exchanged = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known) {
    std::vector<std::tuple<bool, size_t, std::string>> near;
    for (const std::string& each : known) {
        const size_t letters = distance(name, each);
        const bool is_close = letters <= std::max<size_t>(1, name.size() / 3);
        const bool is_part = !name.empty() && each.find(name) != std::string::npos;
        if (is_close || is_part) near.emplace_back(!is_close, letters, each);
    }
    std::sort(near.begin(), near.end());
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(near.size(), kMostNames); ++i) names.push_back(std::get<2>(near[i]));
    return names;
}

}  // namespace tessera
