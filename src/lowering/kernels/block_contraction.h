#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"

namespace tessera::kernels {

/// Neighbouring k whose products of bytes one operation adds.
inline constexpr int64_t kQuad = 4;
/// The largest extent of k that NTT can contract in one call: ntt::kContractBlocksK.
inline constexpr int64_t kLargestBlocksK = 131072;
/// The same in tiles of a matrix unit: ntt::kContractBlockTilesK.
inline constexpr int64_t kLargestBlockTilesK = 32768;

/// A sum of products of small integers that share their scales in blocks of k, read as
///
///     C[m, n] = sum over blocks b of k: scale[m, b] * (coefficient[n, b] * sum_k A[m, k] * (B[n, k] + zero)
///                                                      + offset[n, b] * sum_k A[m, k])
///
/// with A = a, or a * radix + a_low, and sums over the k of the block: these are sums of integers, since the
/// scales are pulled out of the block (docs/types.md, "Activations in blocks").
///
/// One scale of A may serve several blocks. If the coefficient is then an integer for each block times a
/// factor that more of k share, and the integers have room in B's numbers, the sums may go over `fold->block`
/// neighbouring k:
///
///     scale[m, c] * sum over them: fold->rest[n, b] * sum_k A[m, k] * ((B[n, k] + zero) * fold->integer[n,
///     b])
struct BlockContraction {
    /// coefficient = integer * rest; such products of B and of all of them with A are shorts and int32_t.
    struct Fold {
        ExprPtr integer;  ///< constant over `BlockContraction::block` neighbouring k; null: 1
        ExprPtr rest;     ///< constant over `block`
        int64_t block;    ///< a multiple of the other, divides a_block
    };

    Read a;                     ///< I8
    std::optional<Read> a_low;  ///< I8
    int64_t radix;
    Read a_scale;               ///< one number for `a_block` neighbouring k
    Read b;                     ///< integers of at most 8 bits
    ExprPtr coefficient;        ///< constant over `block` neighbouring k
    ExprPtr offset;             ///< likewise; null: 0
    std::vector<Read> b_reads;  ///< reads of coefficient and offset, each access once
    int64_t zero;
    int64_t a_block, block;  ///< block divides a_block; both are multiples of kQuad
    std::vector<int> m, n;   ///< iterators of A and C; of B and C
    int k;                   ///< of A and B
    std::optional<Fold> fold;
    bool b_is_of_bytes;  ///< B + zero are signed bytes
};

/// True if two signed bytes of A's numbers can be multiplied by one of B's, or by two of B's times the
/// integers of its fold.
bool is_of_bytes(const BlockContraction& product);

/// Every way to read a definition so; empty if it is no such sum. Casts to f32 count as nothing.
std::vector<BlockContraction> block_contractions_of(const Definition& definition);
/// Why there is none; empty if there is one.
std::string why_no_block_contraction(const Definition& definition);

}  // namespace tessera::kernels
