#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "run/llm/regex.h"

namespace tessera::llm {

/// A text and its division into pieces, from left to right; bytes between pieces are dropped.
struct Pieces {
    std::string text;
    std::vector<TextRange> ranges;  ///< none is empty
    bool dropped_front = false;     ///< bytes in front of the first piece

    std::string_view piece(size_t i) const {
        return std::string_view(text).substr(ranges[i].begin, ranges[i].size());
    }
};

/// The treatment of a match.
///
///     "a--b" split at "-":  isolated a|-|-|b   removed a|b   merged with previous a-|-|b
///                           merged with next a|-|-b   contiguous a|--|b
enum class SplitBehaviour { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Characters that are matches, each by itself.
using CharacterTest = bool (*)(char32_t character);

struct Split {
    std::variant<std::string, Regex, CharacterTest> pattern;  ///< a text, not empty, an expression, or a test
    SplitBehaviour behaviour = SplitBehaviour::kIsolated;
    bool invert = false;  ///< the texts between matches are treated as the matches
};
/// Puts a space in front of a piece that does not begin with one.
struct SpaceInFront {};
/// Writes every byte as its character of the byte alphabet.
struct MapBytes {};
/// Spaces become `replacement`, and one is put in front of a piece that does not begin with it.
struct Metaspace {
    enum class Front { kNever, kFirst, kAlways };
    std::string replacement = "\u2581";
    Front front = Front::kAlways;  ///< first: only of the piece that begins the text
};

/// One step of the division of a text, as `pre_tokenizer` in `tokenizer.json` lists them.
using PreTokenizerStep = std::variant<Split, SpaceInFront, MapBytes, Metaspace>;

/// All steps in order. `at_start`: the text begins here, it does not follow a special token.
/// A Split sees valid text only: runs of bytes that are not UTF-8 become pieces of their own.
Pieces pre_tokenize(std::span<const PreTokenizerStep> steps, std::string text, bool at_start);

}  // namespace tessera::llm
