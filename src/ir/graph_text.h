#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor_type.h"

/// Pieces of the textual form of a graph (docs/ir.md) that printer and parser share.
namespace tessera {

/// "f32[T, 64]", "f32[P, 16, 2, 8] order [1, 0, 2, 3] lanes <3:8> acc i32", "bf16[T, 64] rounded".
std::string print(const TensorType& type);

/// In double quotes, with \" and \\ and \n escaped.
std::string quoted(std::string_view text);

/// Names that differ in one number: "layers.*.w" for first, first + step, .. last.
struct NameSeries {
    std::string pattern;  ///< `*` stands for the number, and is nowhere else
    int64_t first = 0;
    int64_t last = 0;
    int64_t step = 1;
};

/// The names of a series. Empty if it is none: a pattern without exactly one `*`, a step below 1, or too many
/// names.
std::optional<std::vector<std::string>> expand(const NameSeries& series);
/// The series of these names, which are two or more; empty if they are none.
std::optional<NameSeries> series_of(const std::vector<std::string>& names);

}  // namespace tessera
