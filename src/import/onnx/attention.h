#pragma once

#include <string>

#include "import/onnx/call.h"

/// The steps of attention, which several operators share. Queries, keys and values are [batch, heads, steps,
/// width]; a head of keys serves neighbouring heads of queries.
namespace tessera::import::onnx {

/// [b, s, n * e] as [b, n, s, e]; what has heads already stays.
Operand by_heads(const Call& call, const Operand& x, int64_t heads);
/// The inverse: [b, s, n * e].
Operand without_heads(const Call& call, const Operand& x);
/// scale * q k^T, [b, n, queries, keys].
Operand attention_scores(const Call& call, const Operand& q, const Operand& k, double scale);
/// 1 / sqrt(width).
double default_scale(const Call& call, const Operand& q);
/// Scores up to a limit that they approach; 0: as they are.
Operand softly_capped(const Call& call, const Operand& scores, double cap);
/// softmax over the keys; a row without any key gives zeros.
Operand attention_weights(const Call& call, const Operand& scores);
/// weights v, of a type.
Operand attended(const Call& call, const Operand& weights, const Operand& v, DataType type);

/// How elements of heads turn by angles, whose cosines and sines are tables.
struct Rotation {
    int64_t width;  ///< elements of a head that turn; the others stay
    bool is_interleaved;
};
/// x by heads, [b, n, s, e], turned. @param cosines, sines [places, width / 2], or by batch and step
/// @param places of each batch and step in the tables; null where the tables are by those
Operand rotated(const Call& call, const Operand& x, const Operand& cosines, const Operand& sines,
                const Operand* places, const Rotation& rotation);

}  // namespace tessera::import::onnx
