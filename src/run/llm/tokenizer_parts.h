#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/llm/added_tokens.h"
#include "run/llm/normalizer.h"
#include "run/llm/pre_tokenizer.h"
#include "run/llm/token_decoder.h"
#include "run/llm/token_model.h"
#include "run/llm/tokenizer.h"
#include "run/llm/vocabulary.h"

namespace tessera::llm {

/// The common form of every source of a tokenizer (tokenizer.json, vocab.json and merges.txt, GGUF).
///
///     text --added tokens--> sections --normalizer--> --pre-tokenizer--> pieces --model--> ids --prefix,
///     suffix-->
struct TokenizerParts {
    Vocabulary vocabulary;  ///< of the model; added tokens need not be in it
    std::vector<AddedToken> added;
    std::vector<NormalizerStep> normalizer;
    std::vector<PreTokenizerStep> pre_tokenizer;
    TokenModel model = Bpe(MergeTable(0), {});
    TokenDecoder decoder;
    std::vector<TokenId> prefix;  ///< of a whole text, where special tokens are asked for
    std::vector<TokenId> suffix;  ///< likewise
    std::optional<TokenId> bos;
    std::vector<TokenId> eos;

    // Derived by the Tokenizer.
    AddedTokenSplitter splitter;
    std::unordered_map<TokenId, size_t> added_by_id;  ///< index into `added`
    std::vector<std::string> added_texts;             ///< as `added`: the text from which a token is decoded
    size_t vocabulary_size = 0;
};

}  // namespace tessera::llm
