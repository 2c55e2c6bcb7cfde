#include "import/alibi.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace tessera::import {

std::vector<float> AlibiSlopes::values() const {
    const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
    const double step = largest / static_cast<double>(power);
    std::vector<float> all;
    for (int64_t h = 0; h < heads; ++h) {
        const double exponent = h < power ? step * static_cast<double>(h + 1)
                                          : step / 2 * static_cast<double>(2 * (h - power) + 1);
        all.push_back(static_cast<float>(std::exp2(-exponent)));
    }
    return all;
}

std::string AlibiSlopes::source() const {
    return fmt::format("alibi({}, {})", heads, largest);
}

std::optional<AlibiSlopes> alibi_slopes_in(const Term& term) {
    constexpr double kMostHeads = 1 << 16;
    if (!term.is_call("alibi")) return std::nullopt;
    for (const TermPtr& argument : term.arguments)
        if (argument->kind != Term::Kind::kNumber || argument->number < 1 || argument->number > kMostHeads)
            return std::nullopt;
    AlibiSlopes slopes{.heads = static_cast<int64_t>(term.arguments[0]->number)};
    if (term.arguments.size() == 2) slopes.largest = term.arguments[1]->number;
    return slopes;
}

}  // namespace tessera::import
