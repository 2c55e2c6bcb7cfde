#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/pre_tokenizer.h"

namespace tessera::llm {

/// How GPT-2 divides a text into words (Radford et al. 2019, encoder of the release); also what a ByteLevel
/// pre-tokenizer means by `use_regex`.
extern const std::string_view kGpt2Pattern;
extern const std::string_view kLlama3Pattern;  ///< contractions in any case, digits in threes
extern const std::string_view kQwen2Pattern;   ///< the same with single digits

/// The division of a text before byte-level BPE that a GGUF file only names, in `tokenizer.ggml.pre`.
struct BytePreTokenizer {
    std::vector<std::string_view>
        patterns;           ///< each splits the pieces of the one before; matches stand alone
    bool adds_bos = false;  ///< unless `tokenizer.ggml.add_bos_token` says otherwise
    bool ignores_merges = false;
    bool composes = false;  ///< the original tokenizer normalises to NFC
};
/// Empty for an unknown name. Source: the names and patterns of the llama.cpp project.
std::optional<BytePreTokenizer> byte_pre_tokenizer(std::string_view name);
/// All names, in the order of the table.
std::vector<std::string_view> byte_pre_tokenizer_names();

/// A split for each pattern, then the byte alphabet.
std::vector<PreTokenizerStep> byte_level_steps(const std::vector<std::string_view>& patterns,
                                               bool space_in_front);

}  // namespace tessera::llm
