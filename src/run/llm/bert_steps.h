#pragma once

#include <vector>

#include "run/llm/normalizer.h"
#include "run/llm/pre_tokenizer.h"

namespace tessera::llm {

/// BERT's normaliser, which does several things, in this order.
struct BertNormalizer {
    bool clean_text = true;           ///< control characters and white space
    bool surround_ideographs = true;  ///< each is a word of its own
    bool strip_accents = true;
    bool lowercase = true;

    std::vector<NormalizerStep> steps() const;
};

/// BERT's words: runs without white space, and every punctuation mark by itself.
std::vector<PreTokenizerStep> bert_pre_tokenizer();

}  // namespace tessera::llm
