#include "ir/ops/outer_axes.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {

OuterAxes outer_axes(const std::vector<Dim>& outer) {
    constexpr std::string_view kOuterIterators[] = {"t", "h"};
    TESSERA_CHECK(!outer.empty() && outer.size() <= std::size(kOuterIterators), "{} axes", outer.size());
    OuterAxes all;
    for (size_t i = 0; i < outer.size(); ++i) {
        const std::string_view separator = i == 0 ? "" : ", ";
        all.iterators += fmt::format("{}{}: {}", separator, kOuterIterators[i], text(outer[i]));
        all.map += fmt::format("{}{}", separator, kOuterIterators[i]);
    }
    return all;
}

std::string scale_map(bool is_of_heads) {
    return is_of_heads ? "h, d" : "d";
}

}  // namespace tessera::ops
