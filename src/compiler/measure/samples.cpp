#include "compiler/measure/samples.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "support/error.h"

namespace tessera::measure {

std::vector<std::vector<double>> samples_in_turns(const std::vector<Sample>& cases,
                                                  const MeasureOptions& options) {
    std::vector<std::vector<double>> taken(cases.size());
    for (int64_t turn = -1; turn < options.samples; ++turn) {
        for (size_t i = 0; i < cases.size(); ++i) {
            if (options.is_over && options.is_over()) break;
            if (turn == 0) taken[i].clear();
            taken[i].push_back(cases[i]());
            if (options.on_sample) options.on_sample();
        }
    }
    for (std::vector<double>& some : taken) std::sort(some.begin(), some.end());
    return taken;
}

std::vector<double> quartiles_in_turns(const std::vector<Sample>& cases, const MeasureOptions& options) {
    std::vector<double> quartiles;
    for (const std::vector<double>& some : samples_in_turns(cases, options))
        quartiles.push_back(some.empty() ? INFINITY : some[some.size() / 4]);
    return quartiles;
}

Sample repeated(std::function<double(int64_t calls)> work, double seconds) {
    return [work = std::move(work), seconds, calls = int64_t{1}]() mutable {
        // The clock may be faster than last time: half of the time is as good.
        for (double wanted = calls == 1 ? seconds : seconds / 2;;) {
            const double taken = work(calls);
            if (taken >= wanted) return taken / static_cast<double>(calls);
            const double factor = taken > 0 ? std::clamp(1.2 * seconds / taken, 2.0, 16.0) : 16.0;
            calls = static_cast<int64_t>(static_cast<double>(calls) * factor);
        }
    };
}

double two_digits(double value) {
    TESSERA_CHECK(value > 0, "value {}", value);
    return std::strtod(fmt::format("{:.1e}", value).c_str(), nullptr);
}

double three_digits(double value) {
    TESSERA_CHECK(value > 0, "value {}", value);
    return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr);
}

}  // namespace tessera::measure
