#pragma once

#include <string>
#include <vector>

#include "import/architecture/part.h"
#include "import/map_operator.h"

namespace tessera::import {

/// The recurrence of these lines (docs/operators.md), over the tokens of each sequence of a step. Operands:
/// first, length, start, seat i32[B], then `operands`, of which those of tokens are read without that axis.
/// The carried state is f32[N, ..], all zeros before the first token of a sequence. Results: what is carried,
/// then the other lines' f32[rows, ..].
///
/// An index that is not one of a line is folded there within `sum`, or `max`. Extents are those that `lines`
/// say, or of the reads by an index alone. @throws Error naming `where`
/// @param may_regroup several tokens may be taken together, which rounds otherwise
DefinitionPtr recurrence(ops::Symbols symbols, const std::vector<PartLine>& lines,
                         const std::vector<MapOperand>& operands, const Dim& rows, bool may_regroup,
                         const std::string& where);

/// The lines of a convolution over the last `taps` tokens of each channel: Y[c] = sum over k of W[c, k] times
/// X of the token taps - 1 - k before, plus B[c]. An empty name of the bias is none.
struct ConvolutionNames {
    std::string result, input, weight, bias, past;
};
std::vector<PartLine> convolution_lines(const ConvolutionNames& names, int64_t taps);

}  // namespace tessera::import
