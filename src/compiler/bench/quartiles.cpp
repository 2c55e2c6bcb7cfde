#include <algorithm>

#include "support/error.h"
#include "tessera/bench.h"

namespace tessera {

Quartiles quartiles(std::vector<double> values) {
    TESSERA_CHECK(!values.empty());
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(values.size() - 1);
        const auto below = static_cast<size_t>(place);
        const size_t above = std::min(below + 1, values.size() - 1);
        return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
    };
    return {at(0.25), at(0.5), at(0.75)};
}

}  // namespace tessera
