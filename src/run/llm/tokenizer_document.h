#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/vocabulary.h"
#include "support/json.h"

namespace tessera::llm {

/// "a b" of a list of merges. Tokens may contain spaces themselves, so where the text has several spaces the
/// vocabulary decides: then `right` is empty and `left` is all of it.
struct MergeText {
    std::string left;
    std::string right;
};

/// A `tokenizer.json`. The vocabulary and the merges, which are nearly all of it, are read as they pass by;
/// the rest is an ordinary JSON value without them.
struct TokenizerDocument {
    Vocabulary vocabulary;       ///< `model.vocab`: an object of texts and ids, or a list of ["text", score]
    std::vector<double> scores;  ///< by id, where it is a list
    std::vector<MergeText> merges;  ///< `model.merges`: "a b" or ["a", "b"]
    JsonCursor rest;
};

/// All read the text of a file, which `where` names in errors, with the position.
TokenizerDocument read_tokenizer_document(std::string_view text, const std::string& where);

/// A `vocab.json`: one object of texts and ids.
Vocabulary read_vocabulary_json(std::string_view text, const std::string& where);

/// A `merges.txt`: a line for each merge, two texts with a space between; a first line may name the version.
std::vector<MergeText> read_merges_text(std::string_view text, const std::string& where);

/// Empty unless there is a space with text on both sides.
std::optional<MergeText> split_merge(std::string_view text);

}  // namespace tessera::llm
