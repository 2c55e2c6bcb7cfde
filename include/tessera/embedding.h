#pragma once

#include <cstdint>

/// Texts as vectors: the hidden states of a model, pooled.
namespace tessera {

/// How the hidden states of the tokens of a text become one vector.
enum class Pooling {
    kMean,  ///< the mean over all tokens, a BOS in front included
    kLast,  ///< that of the last token, which has seen all others
};

struct EmbedOptions {
    Pooling pooling = Pooling::kMean;
    bool normalise =
        true;  ///< to length 1, so that products of embeddings are cosines; zeros stay as they are
};

}  // namespace tessera
