#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "run/llm/character_map.h"
#include "run/llm/pattern_set.h"
#include "run/llm/regex.h"

namespace tessera::llm {

/// A form of Unicode Standard Annex 15.
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct Lowercase {};
/// Puts `text` in front, unless the text is empty.
struct Prepend {
    std::string text;
    bool to_empty = false;  ///< even then
};
/// Replaces every occurrence of a text.
struct ReplaceText {
    std::string from;  ///< not empty
    std::string to;
};
/// Replaces every match of a pattern by a fixed text.
struct ReplacePattern {
    Regex from;
    std::string to;
};
/// Removes white space at the ends.
struct StripSpace {
    bool left = true;
    bool right = true;
};

/// A function of every character: clean_text and its neighbours (map_characters.h).
struct MapCharacters {
    std::string (*function)(std::string_view text);
};
/// Removes marks, such as accents that UnicodeForm::kNfd has separated from their letters.
struct RemoveMarks {
    bool only_nonspacing = true;
};
/// Writes every byte as its character of the byte alphabet.
struct WriteByteAlphabet {};
/// Replaces texts by a table. `tokenizers` looks at grapheme clusters: one of less than 6 bytes is replaced
/// as a whole by the shortest rule that it begins with, others character by character.
struct ReplaceClusters {
    CharacterMap map;
};
/// Everything that SentencePiece does to a text. It takes the longest rule at every place, and leaves texts
/// alone that are tokens by definition.
struct NormalizeSentencePiece {
    std::optional<CharacterMap> map = {};
    PatternSet kept = {};
    bool adds_space = true;      ///< in front of a text
    bool removes_spaces = true;  ///< at the ends, and all but one of neighbours
    bool marks_spaces = true;    ///< they become U+2581
    /// As `transformers` does with `legacy` false: only a beginning gets a space in front, and what is in
    /// front of a section stays.
    bool only_start = false;
};

/// One step of the processing of a text before it is split, as `normalizer` in `tokenizer.json` lists them.
using NormalizerStep =
    std::variant<UnicodeForm, Lowercase, Prepend, ReplaceText, ReplacePattern, StripSpace, MapCharacters,
                 RemoveMarks, WriteByteAlphabet, ReplaceClusters, NormalizeSentencePiece>;

/// All steps in order. Bytes that are not UTF-8 stay as they are, and steps treat the runs between them as
/// texts of their own, except for Prepend and StripSpace.
/// @throws Error where steps that feed each other make a text many times as long
std::string normalize(std::span<const NormalizerStep> steps, std::string_view text);

/// The same, of a text whose beginning matters.
struct NormalizedText {
    std::string text;
    bool begins = false;  ///< something of it stands for the first character
};
NormalizedText normalize_from_start(std::span<const NormalizerStep> steps, std::string_view text);

std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace tessera::llm
