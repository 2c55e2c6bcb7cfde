#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Texts as vectors: the hidden states of a model, pooled.
namespace tessera {

/// How the hidden states of the tokens of a text become one vector.
enum class Pooling {
    kMean,          ///< the mean over all tokens, a BOS in front included
    kLast,          ///< that of the last token, which has seen all others
    kFirst,         ///< that of the first token
    kMax,           ///< the largest of each component
    kMeanSqrt,      ///< the sum, divided by the root of the number of tokens
    kWeightedMean,  ///< the mean with the position as weight: 1 for the first token, 2 for the second
};

/// "mean", "last", "cls" (the first token, which BERT calls so), "max", "mean_sqrt_len", "weightedmean":
/// those of sentence-transformers. Empty for any other text.
std::optional<Pooling> pooling_of(std::string_view name);
std::string_view name(Pooling pooling);
std::vector<std::string> pooling_names();

struct EmbedOptions {
    std::optional<Pooling> pooling = {};  ///< unset: what the model was trained with, or else the mean
    /// To length 1, so that products of embeddings are cosines; zeros stay as they are. Unset: as the model
    /// says, or else yes.
    std::optional<bool> normalise = {};
};

}  // namespace tessera
