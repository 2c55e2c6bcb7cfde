#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "llm/regex.h"

namespace tessera::llm {

/// A form of Unicode Standard Annex 15.
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct Lowercase {};
/// Puts `text` in front, unless the text is empty.
struct Prepend {
    std::string text;
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

/// One step of the processing of a text before it is split, as `normalizer` in `tokenizer.json` lists them.
using NormalizerStep = std::variant<UnicodeForm, Lowercase, Prepend, ReplaceText, ReplacePattern, StripSpace>;

/// All steps in order. Bytes that are not UTF-8 stay as they are, and steps treat the runs between them as
/// texts of their own, except for Prepend and StripSpace.
/// @throws Error where steps that feed each other make a text many times as long
std::string normalize(std::span<const NormalizerStep> steps, std::string_view text);

std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace tessera::llm
