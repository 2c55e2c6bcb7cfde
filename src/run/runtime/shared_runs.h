#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// Bytes of one of several texts.
struct Run {
    size_t text = 0;
    uint64_t offset = 0, size = 0;
    bool operator==(const Run&) const = default;
};

/// For each text the runs that it is made of, one behind the other: where whole pages are those of an earlier
/// text, a part of a run that this one has of its own. Such runs are multiples of 2 MiB, so that those behind
/// them keep their places within huge pages.
std::vector<std::vector<Run>> shared_runs(std::span<const std::string_view> texts);

}  // namespace tessera::runtime
