#pragma once

#include "ntt/buffers.h"
#include "tessera/ntt/contract_blocks.h"

// Operands of contractions in blocks whose coefficients are integers times a number for several blocks, and
// their results by plain loops: sums of integers in int64, then one float operation after the other in the
// order stated, which is another one where the integers are multiplied into B's numbers.

namespace tessera::ntt {

inline constexpr int kRadix = 32;

struct FoldedCase {
    int64_t m, n, k;
};

/// Integers are of type S; there are none if `Fold` is one block. Reads of a group of coefficients end with
/// the last of n.
template <ContractBlocksTile Tile, class P, int Fold, class S>
class FoldedOperands {
public:
    static constexpr int64_t L = Tile.lanes;
    static constexpr int kBits = [] {
        if constexpr (BitPointer<P>) {
            return P::kBits;
        } else {
            return 8;
        }
    }();
    using V = Vector<float, Tile.lanes>;

    explicit FoldedOperands(const FoldedCase& c)
        : c_(c),
          random_(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k)),
          high_(numbers<int8_t>(c.m * c.k)),
          low_(numbers<int8_t>(c.m * c.k)),
          a_scale_(random_.numbers(c.m * a_blocks())),
          b_(numbers<uint8_t>(groups() * c.k * L * kBits / 8)),
          integers_(numbers<S>(groups() * blocks() * L - missing())),
          rest_(random_.numbers(groups() * folds() * L - missing())),
          offset_(random_.numbers(groups() * blocks() * L - missing())) {}

    int64_t blocks() const { return c_.k / Tile.block; }
    int64_t a_blocks() const { return c_.k / Tile.a_block; }
    int64_t folds() const { return c_.k / Fold; }
    int64_t groups() const { return ceil_div(c_.n, L); }

    auto a() const { return row_terms<kRadix>(high_.data(), low_.data(), c_.k); }
    auto a_scale() const { return rows(a_scale_.data(), a_blocks(), Int<1>{}); }
    auto b() const { return lane_quads(b_data(), c_.k * L, Int<4 * L>{}); }
    auto offset() const { return each(offset_.data(), Tile.block); }
    auto coefficient() const {
        const auto integer = each(integers_.data(), Tile.block);
        const auto rest = each(rest_.data(), Fold);
        if constexpr (Fold == Tile.block) {
            return foldable(rest, Int<Fold>{});
        } else {
            const auto product = decoded([integer, rest](int64_t group, int64_t k, auto count) {
                return integer.template load<V>(group, k, count) * rest.template load<V>(group, k, count);
            });
            return foldable(product, integer, rest, Int<Fold>{});
        }
    }

    float expected(int64_t m, int64_t n, float sum, bool has_offset, bool is_folded) const {
        for (int64_t a_block = 0; a_block < a_blocks(); ++a_block) {
            const float scale = a_scale_.data()[m * a_blocks() + a_block];
            float whole = 0;
            for (int64_t k = a_block * Tile.a_block; k < (a_block + 1) * Tile.a_block; k += Fold) {
                const float rest = at(rest_.data(), n, k, Fold);
                int64_t products = 0;
                for (int64_t block = k; block < k + Fold; block += Tile.block) {
                    const float integer =
                        Fold == Tile.block ? 1.0f : at(integers_.data(), n, block, Tile.block);
                    const int64_t of_block = products_of(m, n, block);
                    products += of_block * static_cast<int64_t>(integer);
                    if (is_folded) continue;
                    const float coefficient = integer * rest, t = static_cast<float>(of_block);
                    const float u =
                        has_offset
                            ? fma(coefficient, t, at(offset_.data(), n, block, Tile.block) * sum_of(m, block))
                            : coefficient * t;
                    sum = fma(scale, u, sum);
                }
                whole = fma(rest, static_cast<float>(products), whole);
                for (int64_t block = k; has_offset && block < k + Fold; block += Tile.block)
                    whole = fma(at(offset_.data(), n, block, Tile.block), sum_of(m, block), whole);
            }
            if (is_folded) sum = fma(scale, whole, sum);
        }
        return sum;
    }

private:
    P b_data() const {
        if constexpr (BitPointer<P>) {
            return P(b_.data());
        } else {
            return reinterpret_cast<P>(b_.data());
        }
    }
    template <class T>
    std::vector<T> numbers(int64_t n) {
        std::vector<T> v(static_cast<size_t>(n));
        for (T& x : v) x = static_cast<T>(static_cast<int>((random_.next() + 1) * 128));
        return v;
    }
    int64_t missing() const { return c_.k == 0 ? 0 : groups() * L - c_.n; }
    /// The numbers stored for every `block` of k, group by group.
    template <class T>
    auto each(const T* p, int64_t block) const {
        return decoded([p, block, count_of = c_.k / block](int64_t group, int64_t k, auto count) {
            return load_group<V>(p + (group * count_of + k / block) * L, count);
        });
    }
    template <class T>
    float at(const T* p, int64_t n, int64_t k, int64_t block) const {
        return static_cast<float>(p[(n / L * (c_.k / block) + k / block) * L + n % L]);
    }
    int64_t number(int64_t m, int64_t k) const {
        return high_.data()[m * c_.k + k] * kRadix + low_.data()[m * c_.k + k];
    }
    int64_t products_of(int64_t m, int64_t n, int64_t block) const {
        int64_t sum = 0;
        for (int64_t k = block; k < block + Tile.block; ++k) {
            const int64_t b = b_data()[n / L * c_.k * L + k / 4 * 4 * L + n % L * 4 + k % 4];
            sum += number(m, k) * (b + Tile.zero);
        }
        return sum;
    }
    float sum_of(int64_t m, int64_t block) const {
        int64_t sum = 0;
        for (int64_t k = block; k < block + Tile.block; ++k) sum += number(m, k);
        return static_cast<float>(sum);
    }

    FoldedCase c_;
    Random random_;
    AtPageEnd<int8_t> high_, low_;
    AtPageEnd<float> a_scale_;
    AtPageEnd<uint8_t> b_;
    AtPageEnd<S> integers_;
    AtPageEnd<float> rest_, offset_;
};

}  // namespace tessera::ntt
