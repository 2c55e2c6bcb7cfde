#include "tessera/ntt/contract.h"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/widths.h"

namespace tessera::ntt {
namespace {

// How the operands lie in memory.
enum class Form { kPacked, kPackedPadded, kPlain };

struct Case {
    int64_t m, n, k;
    Form b;
    bool packed_c;
    std::string text() const {
        return "M " + std::to_string(m) + " N " + std::to_string(n) + " K " + std::to_string(k) +
               " form of B " + std::to_string(static_cast<int>(b)) + (packed_c ? " packed C" : "");
    }
};

int64_t index_b(const Case& c, int64_t lanes, int64_t n, int64_t k) {
    return c.b == Form::kPlain ? k * c.n + n : n / lanes * c.k * lanes + k * lanes + n % lanes;
}
int64_t index_c(const Case& c, int64_t lanes, int64_t m, int64_t n) {
    return c.packed_c ? n / lanes * c.m * lanes + m * lanes + n % lanes : m * c.n + n;
}

// One case against two references: the same sums as scalar fmas, one after the other or in turns, to the last
// bit; and a double sum, within the bound of a sum of K products. `call` runs the contraction on the prepared
// operands.
template <ContractTile Tile, class Call>
void check(const Case& c, Call call) {
    SCOPED_TRACE(c.text());
    constexpr int64_t L = Tile.lanes;
    Random random(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k));
    const int64_t stride_m = c.k + 3;  // rows of A lie apart, the last one ends with the buffer
    const auto a = random.numbers((c.m - 1) * stride_m + c.k);
    // The end of B is where the last valid element is, unless it is padded; the lanes between are NaN.
    const int64_t b_size =
        c.b == Form::kPackedPadded ? ceil_div(c.n, L) * L * c.k : index_b(c, L, c.n - 1, c.k - 1) + 1;
    std::vector<float> b(static_cast<size_t>(b_size), std::nanf(""));
    for (int64_t n = 0; n < c.n; ++n) {
        for (int64_t k = 0; k < c.k; ++k) b[static_cast<size_t>(index_b(c, L, n, k))] = random.next();
    }
    const int64_t c_size = c.packed_c ? ceil_div(c.n, L) * L * c.m : c.m * c.n;
    Guarded<float> result_data(random.numbers(c_size));
    const Guarded<float> before = result_data;

    call(rows(a.data(), stride_m, Int<1>{}),
         lanes(b.data(), c.b == Form::kPlain ? L : c.k * L, c.b == Form::kPlain ? c.n : L),
         result(result_data.data(), c.packed_c ? L : c.n, c.packed_c ? c.m * L : L));

    ASSERT_TRUE(result_data.guards_are_intact());
    std::vector<bool> is_result(static_cast<size_t>(c_size));
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
            const int64_t at = index_c(c, L, m, n);
            is_result[static_cast<size_t>(at)] = true;
            float in_order[Tile.partial_sums] = {Tile.accumulate ? before[at] : 0.0f};
            double exact = in_order[0], size = std::fabs(in_order[0]);
            const int64_t in_turns = c.k / Tile.partial_sums * Tile.partial_sums;
            for (int64_t k = 0; k < c.k; ++k) {
                const float x = a[static_cast<size_t>(m * stride_m + k)];
                const float y = b[static_cast<size_t>(index_b(c, L, n, k))];
                float& sum = in_order[k < in_turns ? k % Tile.partial_sums : 0];
                sum = fma(x, y, sum);
                exact += static_cast<double>(x) * y;
                size += std::fabs(static_cast<double>(x) * y);
            }
            for (int p = 1; p < Tile.partial_sums; ++p) in_order[0] += in_order[p];
            ASSERT_TRUE(same(result_data[at], in_order[0])) << "m " << m << " n " << n;
            ASSERT_LE(std::fabs(result_data[at] - exact), static_cast<double>(2 * c.k + 1) * 0x1p-24 * size);
        }
    }
    for (int64_t i = 0; i < c_size; ++i) {
        if (is_result[static_cast<size_t>(i)]) continue;
        ASSERT_EQ(result_data[i], before[i]) << "padding of C at " << i;
    }
}

template <ContractTile Tile>
void check_sizes() {
    if constexpr (is_checked(Tile.lanes)) {
        constexpr int64_t L = Tile.lanes;
        const std::vector<Form> forms =
            Tile.b_padded ? std::vector{Form::kPackedPadded} : std::vector{Form::kPacked, Form::kPlain};
        for (const int64_t m : {1, 2, 5, Tile.rows, Tile.rows + 1, 2 * Tile.rows - 1}) {
            for (const int64_t n :
                 {int64_t{1}, L - 1, L, L + 1, int64_t{37}, L * Tile.groups, L * (2 * Tile.groups - 1) + 1}) {
                for (const int64_t k : {1, 2, 7, 16, 31}) {
                    for (const Form form : forms) {
                        for (const bool packed_c : {false, true}) {
                            if (m < 1 || n < 1) continue;
                            check<Tile>({m, n, k, form, packed_c},
                                        [&](auto a, auto b, auto c) { contract<Tile>(m, n, k, a, b, c); });
                        }
                    }
                }
            }
        }
    }
}

TEST(Contract, LanesOfTheMachine) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 6, .groups = 2}>();
    check_sizes<ContractTile{
        .lanes = kRegisterLanes, .rows = 4, .groups = 3, .k_unroll = 4, .accumulate = true}>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 6, .groups = 2, .b_padded = true}>();
}
TEST(Contract, ManyRows) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 12, .groups = 2, .accumulate = true}>();
}
TEST(Contract, OneRowManyGroups) {
    check_sizes<ContractTile{.lanes = 8, .rows = 1, .groups = 8, .k_unroll = 2, .prefetch = 256}>();
    check_sizes<ContractTile{
        .lanes = kRegisterLanes, .rows = 1, .groups = 4, .b_padded = true, .prefetch = 512}>();
}
TEST(Contract, PartialSums) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 1, .groups = 1, .partial_sums = 4}>();
    check_sizes<ContractTile{
        .lanes = kRegisterLanes, .rows = 2, .groups = 1, .prefetch = 16384, .partial_sums = 4}>();
    check_sizes<ContractTile{.lanes = 8, .rows = 4, .groups = 2, .accumulate = true, .partial_sums = 2}>();
}
TEST(Contract, Streams) {
    check_sizes<ContractTile{.lanes = 8, .rows = 1, .groups = 4, .streams = 4}>();
    check_sizes<ContractTile{.lanes = kRegisterLanes,
                             .rows = 4,
                             .groups = 2,
                             .accumulate = true,
                             .prefetch = 16384,
                             .streams = 2,
                             .partial_sums = 2}>();
    check_sizes<ContractTile{.lanes = 4, .rows = 2, .groups = 3, .b_padded = true, .streams = 3}>();
}
TEST(Contract, OtherLanes) {
    check_sizes<ContractTile{.lanes = 1, .rows = 3, .groups = 4}>();
    check_sizes<ContractTile{.lanes = 2, .rows = 2, .groups = 2, .k_unroll = 3}>();
    check_sizes<ContractTile{.lanes = 4, .rows = 2, .groups = 2, .accumulate = true}>();
    check_sizes<ContractTile{.lanes = 32, .rows = 2, .groups = 1}>();
}

template <int64_t M, int64_t N, int64_t K>
void check_static() {
    static constexpr ContractTile kTile{.lanes = 16, .rows = 4, .groups = 2, .k_unroll = 2};
    for (const Form form : {Form::kPacked, Form::kPlain}) {
        check<kTile>({M, N, K, form, false},
                     [](auto a, auto b, auto c) { contract<kTile>(Int<M>{}, Int<N>{}, Int<K>{}, a, b, c); });
    }
    // Static strides as well: packed B, row-major C.
    check<kTile>({M, N, K, Form::kPacked, false}, [](auto a, auto b, auto c) {
        contract<kTile>(Int<M>{}, Int<N>{}, Int<K>{}, rows(a.data, Int<K + 3>{}, Int<1>{}),
                        lanes(b.data, Int<K * 16>{}, Int<16>{}), result(c.data, Int<N>{}, Int<16>{}));
    });
}

TEST(Contract, StaticExtents) {
    check_static<1, 64, 16>();
    check_static<4, 32, 33>();
    check_static<7, 83, 5>();
    check_static<3, 15, 1>();
    check_static<9, 96, 2>();
}

TEST(Contract, CuttingKChangesNoBit) {
    static constexpr ContractTile kFirst{.lanes = 8, .rows = 4, .groups = 2};
    static constexpr ContractTile kNext{.lanes = 8, .rows = 4, .groups = 2, .accumulate = true};
    const int64_t m = 5, n = 21, k = 40;
    Random random(1);
    const auto a = random.numbers(m * k), b = random.numbers(k * n);
    Guarded<float> whole(m * n), cut(m * n);
    contract<kFirst>(m, n, k, rows(a.data(), k, 1), lanes(b.data(), 8, n), result(whole.data(), n, 8));
    contract<kFirst>(m, n, 13, rows(a.data(), k, 1), lanes(b.data(), 8, n), result(cut.data(), n, 8));
    contract<kNext>(m, n, k - 13, rows(a.data() + 13, k, 1), lanes(b.data() + 13 * n, 8, n),
                    result(cut.data(), n, 8));
    for (int64_t i = 0; i < m * n; ++i) EXPECT_TRUE(same(whole[i], cut[i])) << i;
}

// A convolution of an image with 3 channels by windows of 2 x 3.
TEST(Contract, SumsAroundThatOverKChangeNoBit) {
    static constexpr ContractTile kFirst{.lanes = 8, .rows = 4, .groups = 2};
    static constexpr ContractTile kNext{.lanes = 8, .rows = 4, .groups = 2, .accumulate = true};
    const int64_t channels = 3, height = 2, width = 3, m = 9, n = 21, row = m + width - 1;
    Random random(1);
    const auto image = random.numbers(channels * height * row),
               w = random.numbers(height * width * channels * n);
    const auto at = [&](int64_t r, int64_t s) {
        return std::pair{rows(image.data() + r * row + s, Int<1>{}, height * row),
                         lanes(w.data() + (r * width + s) * channels * n, Int<8>{}, n)};
    };
    Guarded<float> whole(m * n), cut(m * n);
    contract<kFirst>(m, n, channels, at(0, 0).first, at(0, 0).second, result(whole.data(), n, Int<8>{}),
                     outer_sum(height, row, width * channels * n),
                     outer_sum(Int<3>{}, Int<1>{}, channels * n));
    for (int64_t r = 0; r < height; ++r) {
        for (int64_t s = 0; s < width; ++s) {
            const auto [a, b] = at(r, s);
            if (r + s == 0)
                contract<kFirst>(m, n, channels, a, b, result(cut.data(), n, Int<8>{}));
            else
                contract<kNext>(m, n, channels, a, b, result(cut.data(), n, Int<8>{}));
        }
    }
    ASSERT_TRUE(whole.guards_are_intact());
    for (int64_t i = 0; i < m * n; ++i) EXPECT_TRUE(same(whole[i], cut[i])) << i;
}

// More of A than there is room for when it is widened: parts of several tiles, and of less than one, and
// parts of K.
TEST(Contract, NarrowRowsInParts) {
    static constexpr ContractTile kTile{.lanes = 4, .rows = 3, .groups = 1};
    const int64_t n = 5;
    const int64_t fitting = kContractWide / kContractWideRows;
    for (const auto& [m, k] : {std::pair<int64_t, int64_t>{11, kContractWide / 4},
                               {5, kContractWide / 2},
                               {2, kContractWide},
                               {1, kContractWide + 3},
                               {kContractWideRows, fitting},
                               {kContractWideRows + 3, fitting + 1},
                               {kContractWideRows + 1, 2 * fitting + 7},
                               {4, 0},
                               {0, 7}}) {
        SCOPED_TRACE(std::to_string(m) + " rows of " + std::to_string(k));
        Random random(static_cast<uint64_t>(m));
        const auto a = random.numbers(m * k), b = random.numbers(k * n);
        std::vector<f16> narrow_a;
        std::vector<float> rounded_a;
        for (const float x : a) {
            narrow_a.push_back(narrow<f16>(x));
            rounded_a.push_back(widen(narrow_a.back()));
        }
        Guarded<float> found(random.numbers(m * n)), expected(m * n);
        const auto b_lanes = lanes(b.data(), 4, n);
        contract<kTile>(m, n, k, rows(narrow_a.data(), k, Int<1>{}), b_lanes, result(found.data(), n, 4));
        contract<kTile>(m, n, k, rows(rounded_a.data(), k, Int<1>{}), b_lanes, result(expected.data(), n, 4));
        ASSERT_TRUE(found.guards_are_intact());
        for (int64_t i = 0; i < m * n; ++i) ASSERT_TRUE(same(found[i], expected[i])) << i;
    }
}

// A transposed A and an epilogue of one's own.
struct AddResidual {
    Result<int64_t, int64_t> out;
    const float* residual;

    template <AnyVector V>
    V start(int64_t, int64_t, int64_t) const {
        return broadcast<V>(0.0f);
    }
    template <AnyVector V>
    void finish(int64_t m, int64_t group, V v, int64_t count) const {
        const float* r = residual + m * out.stride_m + group * out.stride_group;
        out.finish(m, group, max(v, 0.0f) + load_first<V>(r, count), count);
    }
};

TEST(Contract, TransposedRowsAndAnEpilogue) {
    static constexpr ContractTile kTile{.lanes = 8, .rows = 4, .groups = 2};
    const int64_t m = 6, n = 19, k = 11;
    Random random(2);
    const auto a = random.numbers(k * m), b = random.numbers(k * n), residual = random.numbers(m * n);
    Guarded<float> c(m * n);
    contract<kTile>(m, n, k, rows(a.data(), Int<1>{}, m), lanes(b.data(), Int<8>{}, n),
                    AddResidual{result(c.data(), n, 8), residual.data()});
    EXPECT_TRUE(c.guards_are_intact());
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (int64_t s = 0; s < k; ++s)
                sum = fma(a[static_cast<size_t>(s * m + i)], b[static_cast<size_t>(s * n + j)], sum);
            EXPECT_EQ(c[i * n + j], (sum > 0 ? sum : 0.0f) + residual[static_cast<size_t>(i * n + j)]);
        }
    }
}

// If K may be cut, an epilogue would run once for each part.
template <ContractTile Tile, class T, class C>
constexpr bool kIsTaken =
    Contraction<Tile, Rows<const T*, int64_t, Int<1>>, Lanes<const float*, int64_t, Int<8>>, C>;
constexpr ContractTile kPlain{.lanes = 8, .rows = 4, .groups = 2};
constexpr ContractTile kByPanels{.lanes = 8, .rows = 4, .groups = 2, .panel_blocks = 4};
static_assert(kIsTaken<kPlain, float, AddResidual> && kIsTaken<kByPanels, float, Result<int64_t, int64_t>>);
static_assert(kIsTaken<kPlain, bf16, Result<int64_t, int64_t>>);
static_assert(!kIsTaken<kPlain, bf16, AddResidual> && !kIsTaken<kByPanels, float, AddResidual>);

}  // namespace
}  // namespace tessera::ntt
