#include "run/llm/source_features.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::llm {

std::vector<float> source_features(const runtime::Manifest::Features& form, std::span<const float> rows,
                                   const std::string& where) {
    const int64_t expected = form.count * form.every;
    if (std::ssize(rows) != expected * form.width)
        throw Error(where, "features",
                    fmt::format("have {} numbers, expected {} rows of {}", rows.size(), expected, form.width),
                    "shorter sources are padded as the model was trained");
    const auto width = static_cast<size_t>(form.width);
    std::vector<float> all;
    all.reserve(static_cast<size_t>(form.count * form.taps) * width);
    for (int64_t token = 0; token < form.count; ++token)
        for (int64_t tap = 0; tap < form.taps; ++tap) {
            const int64_t row = form.every * token + form.first + tap;
            if (row < 0 || row >= expected) {
                all.insert(all.end(), width, 0.0f);
                continue;
            }
            const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row * form.width);
            all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
        }
    return all;
}

}  // namespace tessera::llm
