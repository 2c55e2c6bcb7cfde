// Contractions of int8 in blocks against plain loops: sums of integers in int64, then one float operation
// after the other in the order stated. Every tile is held to the bits of this order, so all give the same.

#include "tessera/ntt/contract_blocks.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/widths.h"

namespace tessera::ntt {
namespace {

struct Case {
    int64_t m, n, k;
};

uint8_t next_byte(Random& random) {
    return static_cast<uint8_t>(bits_of(random.next() + 2.0f) >> 3);
}

template <class T>
std::vector<T> bytes(Random& random, int64_t n) {
    std::vector<T> v(static_cast<size_t>(n));
    for (T& x : v) x = static_cast<T>(next_byte(random));
    return v;
}

template <class T>
std::vector<T> without_least(std::vector<T> v) {
    for (T& x : v) x = std::max<T>(x, std::numeric_limits<T>::min() + 1);
    return v;
}

/// The operands of one contraction. Buffers end with the last element that may be read; offsets are NaN but
/// at the first k of each block. Rounded activations are never -128, with which two terms may be more than a
/// short; but any byte is allowed.
template <ContractBlocksTile Tile, class P, int Radix = 1>
class Operands {
public:
    static constexpr int64_t L = Tile.lanes;
    using Stored = std::conditional_t<std::is_same_v<P, const int8_t*>, int8_t, uint8_t>;

    explicit Operands(const Case& c, bool any_byte = true)
        : c_(c),
          random_(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k)),
          a_(any_byte ? random_row_bytes() : without_least(random_row_bytes())),
          a_low_(random_row_bytes()),
          a_scale_(random_.numbers(c.m * a_blocks())),
          b_(bytes<Stored>(random_, stored_bytes(groups() * c.k * L))),
          coefficient_(random_.numbers((groups() - 1) * blocks() * L + blocks() * L - missing())),
          offset_(offsets()) {}

    int64_t stride_m() const { return c_.k + 5; }
    int64_t blocks() const { return c_.k / Tile.block; }
    int64_t a_blocks() const { return ceil_div(c_.k, Tile.a_block); }
    int64_t groups() const { return ceil_div(c_.n, L); }

    auto a() const {
        if constexpr (Radix > 1) {
            return row_terms<Radix>(a_.data(), a_low_.data(), stride_m());
        } else {
            return rows(a_.data(), stride_m(), Int<1>{});
        }
    }
    auto a_scale() const { return rows(a_scale_.data(), a_blocks(), Int<1>{}); }
    auto b() const { return lane_quads(P(b_.data()), c_.k * L, Int<4 * L>{}); }
    auto coefficient() const {
        return decoded([p = coefficient_.data(), blocks = blocks()](int64_t group, int64_t k, auto count) {
            return load_group<Vector<float, L>>(p + (group * blocks + k / Tile.block) * L, count);
        });
    }
    auto offset() const { return lanes(offset_.data(), c_.k * L, Int<L>{}); }

    float expected(int64_t m, int64_t n, float sum, bool has_offset) const {
        const int64_t group = n / L, lane = n % L;
        for (int64_t block = 0; block < blocks(); ++block) {
            int64_t products = 0, a_sum = 0;
            for (int64_t k = block * Tile.block; k < (block + 1) * Tile.block; ++k) {
                const int64_t number = P(b_.data())[group * c_.k * L + k / 4 * 4 * L + lane * 4 + k % 4];
                int64_t a_mk = a_.data()[m * stride_m() + k];
                if constexpr (Radix > 1) a_mk = a_mk * Radix + a_low_.data()[m * stride_m() + k];
                products += a_mk * (number + Tile.zero);
                a_sum += a_mk;
            }
            float scaled =
                coefficient_.data()[(group * blocks() + block) * L + lane] * static_cast<float>(products);
            if (has_offset) {
                const float offset = offset_.data()[(group * c_.k + block * Tile.block) * L + lane];
                scaled = fma(coefficient_.data()[(group * blocks() + block) * L + lane],
                             static_cast<float>(products), offset * static_cast<float>(a_sum));
            }
            const float scale = a_scale_.data()[m * a_blocks() + block * Tile.block / Tile.a_block];
            sum = fma(scale, scaled, sum);
        }
        return sum;
    }

private:
    std::vector<int8_t> random_row_bytes() {
        return bytes<int8_t>(random_, c_.m == 0 ? 0 : (c_.m - 1) * stride_m() + c_.k);
    }
    static int64_t stored_bytes(int64_t numbers) {
        if constexpr (BitPointer<P>) return numbers * P::kBits / 8;
        return numbers;
    }
    // Lanes of the last group that do not exist.
    int64_t missing() const { return c_.k == 0 ? 0 : groups() * L - c_.n; }
    std::vector<float> offsets() {
        std::vector<float> v(static_cast<size_t>(groups() * c_.k * L), float_of(0x7fc00000));
        for (int64_t i = 0; i < groups() * blocks(); ++i) {
            for (int64_t lane = 0; lane < L; ++lane)
                v[static_cast<size_t>(i * Tile.block * L + lane)] = random_.next();
        }
        return v;
    }

    Case c_;
    Random random_;
    AtPageEnd<int8_t> a_, a_low_;
    AtPageEnd<float> a_scale_;
    AtPageEnd<Stored> b_;
    AtPageEnd<float> coefficient_, offset_;
};

template <ContractBlocksTile Tile, class P, int Radix, class Offset>
void expect_sums(const Operands<Tile, P, Radix>& operands, const Case& c, const Guarded<float>& found,
                 const Guarded<float>& before, const Offset&) {
    ASSERT_TRUE(found.guards_are_intact());
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
            const float start = Tile.accumulate ? before[m * c.n + n] : 0.0f;
            const float expected = operands.expected(m, n, start, !std::is_same_v<Offset, NoOffset>);
            ASSERT_TRUE(same(found[m * c.n + n], expected))
                << "m " << m << " n " << n << ": " << found[m * c.n + n] << ", expected " << expected;
        }
    }
}

template <ContractBlocksTile Tile, class P, bool HasOffset, int Radix = 1>
void check(const Case& c, bool any_byte = true) {
    SCOPED_TRACE("M " + std::to_string(c.m) + " N " + std::to_string(c.n) + " K " + std::to_string(c.k));
    const Operands<Tile, P, Radix> operands(c, any_byte);
    Guarded<float> found(Random(1).numbers(c.m * c.n));
    const Guarded<float> before = found;
    const auto offset = [&] {
        if constexpr (HasOffset) {
            return operands.offset();
        } else {
            return no_offset;
        }
    }();
    contract_blocks<Tile>(c.m, c.n, c.k, operands.a(), operands.a_scale(), operands.b(),
                          operands.coefficient(), offset, result(found.data(), c.n, Int<Tile.lanes>{}));
    expect_sums(operands, c, found, before, offset);
}

template <ContractBlocksTile Tile, class P, bool HasOffset = false, int Radix = 1>
void check_sizes(bool any_byte = true) {
    if constexpr (is_checked(Tile.lanes)) {
        constexpr int64_t L = Tile.lanes;
        for (const int64_t m : {1, Tile.rows, 2 * Tile.rows + 1, 5 * Tile.rows - 1}) {
            for (const int64_t n : {int64_t{1}, L * Tile.groups, L * (2 * Tile.groups - 1) + L / 2 + 1}) {
                for (const int64_t turns : {0, 1, 3})
                    check<Tile, P, HasOffset, Radix>(
                        {m, n, turns * Tile.a_block + (turns == 3 ? Tile.block : 0)}, any_byte);
            }
        }
    }
}

TEST(ContractBlocks, FourBits) {
    check_sizes<ContractBlocksTile{
                    .lanes = kRegisterLanes, .rows = 4, .groups = 2, .block = 32, .a_block = 32, .zero = -8},
                Bits<4>>();
    check_sizes<ContractBlocksTile{
                    .lanes = kRegisterLanes, .rows = 1, .groups = 1, .block = 32, .a_block = 256},
                Bits<4>, true>();
    check_sizes<ContractBlocksTile{
                    .lanes = 8, .rows = 2, .groups = 1, .block = 64, .a_block = 64, .accumulate = true},
                SignedBits<4>>();
}
TEST(ContractBlocks, FetchingAhead) {
    check_sizes<ContractBlocksTile{
                    .lanes = 8, .rows = 1, .groups = 2, .block = 32, .a_block = 32, .prefetch = 4096},
                Bits<4>>();
    check_sizes<
        ContractBlocksTile{
            .lanes = kRegisterLanes, .rows = 1, .groups = 1, .block = 32, .a_block = 32, .prefetch = 16384},
        const int8_t*>();
    check_sizes<
        ContractBlocksTile{
            .lanes = kRegisterLanes, .rows = 2, .groups = 1, .block = 16, .a_block = 32, .prefetch = 64},
        const int8_t*>();
}
TEST(ContractBlocks, Streams) {
    check_sizes<ContractBlocksTile{
                    .lanes = 8, .rows = 1, .groups = 4, .block = 32, .a_block = 32, .streams = 4},
                const int8_t*>();
    check_sizes<ContractBlocksTile{.lanes = kRegisterLanes,
                                   .rows = 4,
                                   .groups = 2,
                                   .block = 32,
                                   .a_block = 256,
                                   .accumulate = true,
                                   .prefetch = 2048,
                                   .streams = 2},
                Bits<4>, true, 32>(false);
    check_sizes<
        ContractBlocksTile{
            .lanes = 4, .rows = 2, .groups = 3, .block = 16, .a_block = 32, .zero = -32, .streams = 3},
        Bits<6>>();
}
TEST(ContractBlocks, OtherBits) {
    check_sizes<ContractBlocksTile{.lanes = kRegisterLanes,
                                   .rows = 3,
                                   .groups = 2,
                                   .block = 16,
                                   .a_block = 256,
                                   .zero = -32,
                                   .panel_blocks = 4},
                Bits<6>>();
    check_sizes<
        ContractBlocksTile{
            .lanes = 4, .rows = 2, .groups = 3, .block = 12, .a_block = 24, .zero = 5, .panel_blocks = 2},
        Bits<3>, true>();
    check_sizes<
        ContractBlocksTile{
            .lanes = 32, .rows = 2, .groups = 1, .block = 12, .a_block = 12, .zero = 16, .panel_blocks = 4},
        SignedBits<5>>();
}
TEST(ContractBlocks, Bytes) {
    check_sizes<ContractBlocksTile{
                    .lanes = kRegisterLanes, .rows = 6, .groups = 2, .block = 32, .a_block = 32},
                const int8_t*>();
    check_sizes<ContractBlocksTile{
                    .lanes = kRegisterLanes, .rows = 1, .groups = 2, .block = 32, .a_block = 64, .zero = 128},
                const int8_t*>();
    check_sizes<ContractBlocksTile{.lanes = 1,
                                   .rows = 2,
                                   .groups = 2,
                                   .block = 4,
                                   .a_block = 4,
                                   .zero = -77,
                                   .accumulate = true,
                                   .panel_blocks = 3},
                const uint8_t*, true>();
}

// Numbers of 16 bits as two bytes.
TEST(ContractBlocks, Terms) {
    for (const bool any_byte : {false, true}) {
        check_sizes<ContractBlocksTile{.lanes = kRegisterLanes,
                                       .rows = 4,
                                       .groups = 2,
                                       .block = 32,
                                       .a_block = 32,
                                       .panel_blocks = 4},
                    const int8_t*, false, 256>(any_byte);
        check_sizes<
            ContractBlocksTile{
                .lanes = kRegisterLanes, .rows = 1, .groups = 1, .block = 16, .a_block = 32, .zero = -32},
            Bits<6>, true, 256>(any_byte);
    }
    // Terms of more than a short.
    check_sizes<ContractBlocksTile{.lanes = kRegisterLanes, .rows = 2, .groups = 1, .block = 8, .a_block = 8},
                Bits<4>, false, 500>();
}

// More of A than there is room for: parts of several tiles, and parts of less than one.
TEST(ContractBlocks, RowsInParts) {
    static constexpr ContractBlocksTile kTile{
        .lanes = 4, .rows = 6, .groups = 1, .block = 4, .a_block = 8, .zero = -8};
    const int64_t k = 4 * 1000;
    static_assert(40 * k > kContractBlocksK);
    check<kTile, Bits<4>, false>({40, 5, k});
    check<kTile, Bits<4>, true>({5, 3, kContractBlocksK / 4});
    check<kTile, Bits<4>, true>({2, 3, kContractBlocksK});
}

TEST(ContractBlocks, StaticExtents) {
    static constexpr ContractBlocksTile kTile{
        .lanes = kRegisterLanes, .rows = 2, .groups = 2, .block = 32, .a_block = 32, .zero = -16};
    constexpr int64_t kM = 5, kN = 53, kK = 96;
    const Case c{kM, kN, kK};
    const Operands<kTile, Bits<5>> operands(c);
    Guarded<float> found(kM * kN);
    contract_blocks<kTile>(Int<kM>{}, Int<kN>{}, Int<kK>{}, operands.a(), operands.a_scale(), operands.b(),
                           operands.coefficient(), no_offset,
                           result(found.data(), Int<kN>{}, Int<kRegisterLanes>{}));
    expect_sums(operands, c, found, found, no_offset);
}

}  // namespace
}  // namespace tessera::ntt
