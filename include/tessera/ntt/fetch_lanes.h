#pragma once

#include "tessera/ntt/paired_lanes.h"

// The lines of B that a block of registers of contract() prefetches.

namespace tessera::ntt::detail {

/// True if each step begins where the previous one ends, as far as types tell.
template <class B, int64_t Numbers>
inline constexpr bool kStepsFollow = false;
template <class P, class StrideGroup, int64_t Numbers>
inline constexpr bool kStepsFollow<Lanes<P, StrideGroup, Int<Numbers>>, Numbers> = true;
template <class StrideGroup, int64_t Numbers>
inline constexpr bool kStepsFollow<LanePairs<StrideGroup, Int<Numbers>>, Numbers> = true;

/// Prefetches `Bytes` ahead of the reads of NR groups of L lanes; does nothing if that is 0, or if B is
/// computed rather than read from memory.
template <int Bytes, int NR, int L, class B, class Group = int64_t>
class FetchLanes {
public:
    static constexpr int kTurn = 1;

    FetchLanes(const B&, Group, int64_t, int64_t, int64_t) {}
    [[gnu::always_inline]] void operator()(int, int64_t) const {}
};

template <int Bytes, int NR, int L, class B, class Group>
requires(Bytes > 0 && HasAddress<B>) class FetchLanes<Bytes, NR, L, B, Group> {
    static constexpr int kNumbers = L * (LanePairsOperand<B, Vector<float, L>> ? 2 : 1);  // of one vector
    using Number = Pointee<decltype(std::declval<const B&>().address(0, 0))>;

public:
    /// Far ahead, each line is requested twice (fetch_ahead), and each time by only one of the vectors that
    /// share it: neighbours in steps or in groups. The compiler should see which of this many steps fetch.
    static constexpr int kTurn = [] {
        const int vectors = kLineBytes / (kNumbers * int{sizeof(Number)});
        if (Bytes < kFarAhead || vectors < 2) return 1;
        return vectors >= 4 && (NR >= 4 || kStepsFollow<B, kNumbers>) ? 4 : 2;
    }();

    /// Prefetches for the groups from `group` on, of n columns in all, and the k of [begin, end).
    ///
    /// A block of groups may read a piece of each of many consecutive rows. Far ahead it then requests as
    /// much in the order of the addresses: the hardware's prefetchers follow these, and more lines are on
    /// their way than a core could request by itself.
    [[gnu::always_inline]] FetchLanes(const B& b, Group group, int64_t n, int64_t begin, int64_t end)
        : b_(b), group_(group) {
        if constexpr (std::same_as<Group, int64_t>) {
            if (Bytes < kFarAhead || end - begin < 2 || n <= NR * L) return;
            const char* const at = byte_at(b.address(0, begin));
            const int64_t row = n * int64_t{sizeof(Number)}, lanes = L * int64_t{sizeof(Number)};
            if (byte_at(b.address(1, begin)) - at != lanes || byte_at(b.address(0, begin + 1)) - at != row)
                return;
            skew_step_ = NR * lanes - row;
            skew_ = group * lanes * (end - begin - 1) - begin * skew_step_;
        }
    }

    /// Called before group j of the block is read at a step.
    [[gnu::always_inline]] void operator()(int j, int64_t step) const {
        if (fetches(j, step)) fetch_ahead<Bytes>(in_order(j, step), place(j, step));
    }
    [[gnu::always_inline]] static bool fetches(int j, int64_t step) { return (j + step) % kTurn == 0; }
    /// The address to fetch, without the prefetch distance.
    [[gnu::always_inline]] const char* in_order(int j, int64_t step) const {
        return place(j, step) + (skew_ + step * skew_step_);
    }

private:
    [[gnu::always_inline]] const char* place(int j, int64_t step) const {
        return byte_at(b_.address(group_ + j, step));
    }

    B b_;
    Group group_;
    /// Bytes from the read address at step 0 to the one in the order of addresses, and the increment per
    /// step.
    int64_t skew_ = 0;
    int64_t skew_step_ = 0;
};

/// For steps of pairs that are made of two k.
template <int Bytes, int NR, int L, class B, class Group>
requires(Bytes > 0) class FetchLanes<Bytes, NR, L, PairedLanes<B>, Group> {
public:
    static constexpr int kTurn = FetchLanes<Bytes, NR, L, B, Group>::kTurn;

    [[gnu::always_inline]] FetchLanes(const PairedLanes<B>& b, Group group, int64_t n, int64_t begin,
                                      int64_t end)
        : fetch_(b.lanes, group, n, begin, end) {}
    [[gnu::always_inline]] void operator()(int j, int64_t pair) const {
        fetch_(j, 2 * pair);
        fetch_(j, 2 * pair + 1);
    }

private:
    FetchLanes<Bytes, NR, L, B, Group> fetch_;
};

}  // namespace tessera::ntt::detail
