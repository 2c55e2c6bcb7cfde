#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"

namespace tessera::kernels {

/// A sum of products read as C[m, n] = sum over k of A[m, k] * B[n, k]: A is one operand, B an expression in
/// others, such as the value of a quantised weight, `(quants - 8) * scale`.
struct Contraction {
    Read a;
    ExprPtr b;
    std::vector<Read> b_reads;  ///< operands that B reads, each access once
    std::vector<int> m, n, k;   ///< iterators of A and C; of B and C; of A and B

    /// The operand that B is, casts aside; null if B is computed from several or with numbers.
    const Read* b_operand() const;
};

/// The factors of the product that a definition sums, casts to f32 aside; empty if it is no sum, or rounds in
/// it.
std::vector<ExprPtr> factors_of(const Definition& definition);

/// Every way to read a definition so; empty if it is no sum of products, or no iterators can be n and k.
/// Casts to f32 count as nothing, since compiled code computes in f32; a definition that rounds a factor
/// otherwise is no contraction.
std::vector<Contraction> contractions_of(const Definition& definition);

/// The one by these iterators; nothing if there is none. @param m -1: of any rows
std::optional<Contraction> contraction_by(const Definition& definition, int m, int n, int k);

/// Why there is none; empty if there is one.
std::string why_no_contraction(const Definition& definition);

}  // namespace tessera::kernels
