#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/architecture/term.h"
#include "ir/ops/define.h"
#include "ir/tensor_type.h"

/// Operators of expressions in an architecture's text.
namespace tessera::import {

/// An operand of an expression.
struct MapOperand {
    std::string name;  ///< in the text
    TensorType type;
    bool is_of_tokens = true;  ///< its first axis is that of the tokens
    bool is_position = false;  ///< i32[tokens]: a number for each of them, which comes before all others
};

/// The term in the notation of operators, with other names in the place of those of operands.
/// @throws Error naming `where` for what is no number
TermPtr operator_body(const TermPtr& term, const std::map<std::string, std::string>& names,
                      const std::string& where);

/// Y = the term, element by element. Operands have the shape of the result; those of tokens with fewer axes
/// have one number for each token, and tensors have its last axes. `call`s in the term are functions of
/// scalars, or activation functions of names. @throws Error naming `where` for other shapes
DefinitionPtr mapped(ops::Symbols symbols, const TermPtr& term, const std::vector<MapOperand>& operands,
                     ElementType result, const std::string& where);

/// Y[t, indices] = the term, in which operands are read as X[i, j], without the axis of the tokens. An index
/// that is none of these, a letter alone, is summed over within `sum`, or `max`. Extents are those of the
/// reads by an index alone, or stated: `stated` has one for each of the indices, 0 where it is not.
DefinitionPtr indexed_map(ops::Symbols symbols, const std::vector<std::string>& indices,
                          const std::vector<int64_t>& stated, const TermPtr& term,
                          const std::vector<MapOperand>& operands, const Dim& rows, const std::string& where);

/// Y[.., n] = X[.., first + n] with n below `width`.
DefinitionPtr taken_part(ops::Symbols symbols, const TensorType& type, int64_t first, int64_t width);

/// The operands side by side along the last axis. They have this element type, one number of heads or none,
/// or one head that stands for all.
DefinitionPtr joined_parts(ops::Symbols symbols, const std::vector<TensorType>& parts);

/// Y[t, j, n] = W[choice[t, j], n]. Operands: choice i32[rows, chosen], W [experts, width], or a matrix
/// [experts * width, 1].
DefinitionPtr chosen_rows(ops::Symbols symbols, const Dim& rows, int64_t chosen, const TensorType& table,
                          int64_t experts);

/// Y[t, i] = C[position[t], i]. Operands: position i32[rows], C f32[positions, width].
DefinitionPtr rows_at_positions(ops::Symbols symbols, const Dim& rows, int64_t positions, int64_t width);

/// Y[t, j] = X[t, choice[t, j]]. Operands: choice i32[rows, chosen], X f32[rows, width].
DefinitionPtr picked(ops::Symbols symbols, const Dim& rows, int64_t width, int64_t chosen);

/// exp(X[t, e] - M[t]). Operands: X f32[rows, width], M f32[rows].
DefinitionPtr shifted_exponentials(ops::Symbols symbols, const Dim& rows, int64_t width);

}  // namespace tessera::import
