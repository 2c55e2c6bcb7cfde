#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "ntt/buffers.h"
#include "tessera/ntt/extent.h"
#include "tessera/ntt/storage.h"

/// Contractions whose B lies in pairs of k, `[N/L][K/2][L][2]` of bf16.
namespace tessera::ntt {

struct Case {
    int64_t m, n, k;
    std::string text() const {
        return "M " + std::to_string(m) + " N " + std::to_string(n) + " K " + std::to_string(k);
    }
};

template <class T>
std::vector<T> numbers(Random& random, int64_t n) {
    std::vector<T> v(static_cast<size_t>(n));
    for (T& x : v) x = narrow<T>(random.next());
    return v;
}

/// B[n, k] in pairs. The second number of the last pair of an odd K is 0, the lanes behind N are `gap`.
inline std::vector<bf16> pairs_of(const std::vector<bf16>& b, const Case& c, int64_t lanes,
                                  float gap = std::nanf("")) {
    const int64_t pairs = ceil_div(c.k, 2), groups = ceil_div(c.n, lanes);
    std::vector<bf16> packed(static_cast<size_t>(groups * pairs * lanes * 2), narrow<bf16>(gap));
    for (int64_t n = 0; n < c.n; ++n) {
        for (int64_t k = 0; k < 2 * pairs; ++k) {
            const int64_t at = ((n / lanes * pairs + k / 2) * lanes + n % lanes) * 2 + k % 2;
            packed[static_cast<size_t>(at)] = k < c.k ? b[static_cast<size_t>(n * c.k + k)] : bf16{0};
        }
    }
    return packed;
}

/// B[n, k] as `[K][N]`.
inline std::vector<bf16> rows_of_k(const std::vector<bf16>& b, const Case& c) {
    std::vector<bf16> rows(b.size());
    for (int64_t n = 0; n < c.n; ++n)
        for (int64_t k = 0; k < c.k; ++k)
            rows[static_cast<size_t>(k * c.n + n)] = b[static_cast<size_t>(n * c.k + k)];
    return rows;
}

}  // namespace tessera::ntt
