#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "import/gguf/gguf_file.h"
#include "run/llm/file_source.h"
#include "run/llm/tokenizer_document.h"
#include "run/llm/tokenizer_parts.h"

namespace tessera::llm {

/// The forms in which a tokenizer is stored. All throw Error naming the file and its fault.

/// A `tokenizer.json` of the `tokenizers` library; BOS and EOS from the files beside it.
TokenizerParts read_tokenizer_json(FileSource& files, const std::string& name);

/// `vocab.json` and `merges.txt`, the older form of byte-level vocabularies. No file states how texts are
/// divided into words: it follows from `tokenizer_class` in `tokenizer_config.json`, or `model_type` in
/// `config.json`.
TokenizerParts read_vocabulary_and_merges(FileSource& files);

/// A `tokenizer.model` of the SentencePiece library, with the BPE or the Unigram algorithm; tokens that were
/// added, BOS and EOS from the files beside it.
TokenizerParts read_sentence_piece(FileSource& files, const std::string& name);

/// The metadata of a GGUF file: `tokenizer.ggml.model` "gpt2" (byte-level BPE), "llama" (SentencePiece
/// BPE), "t5" (Unigram) or "bert" (WordPiece).
TokenizerParts read_gguf_tokenizer(const import::GgufFile& file);

/// The name of the GGUF file in an artefact.
inline constexpr std::string_view kTokenizerGguf = "tokenizer.gguf";

/// How SentencePiece writes a space inside a token: U+2581, "lower one eighth block".
inline constexpr std::string_view kSpaceMark = "\u2581";

/// The treatment of a merge if a part, or the merged text, is no token of the vocabulary.
enum class UnknownMerge { kRefuse, kIgnore };

/// Turns texts into merges of the vocabulary; the first has rank 0.
/// @throws Error naming `where` and the merge that is refused
MergeTable make_merges(std::span<const MergeText> texts, const Vocabulary& vocabulary,
                       std::string_view continuing_prefix, UnknownMerge unknown, const std::string& where);

/// By byte, the id of "<0xHH>" or -1. Empty if the vocabulary has none of them.
std::optional<std::array<TokenId, 256>> find_byte_tokens(const Vocabulary& vocabulary);

}  // namespace tessera::llm
