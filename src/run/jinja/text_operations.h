#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "run/jinja/context.h"
#include "run/jinja/text.h"

/// Python's methods of texts, which filters use as well. Every byte keeps its origin.
namespace tessera::jinja {

/// kUpperFirst: the first character in upper case; `capitalize` uses title case.
enum class Case { kUpper, kLower, kTitle, kCapitalize, kUpperFirst };
Text with_case(Context& context, const Text& text, Case wanted);
/// True if the text has letters with case, all of them upper or all lower.
bool is_cased(Context& context, const Text& text, bool upper);
/// Words begin behind white space and -([{<, as in the filter `title`.
Text title_of_words(Context& context, const Text& text);

/// The text without these characters at its ends; by default without white space.
enum class Ends { kBoth, kLeft, kRight };
Text stripped(Context& context, const Text& text, Ends ends, const std::optional<Text>& characters);

/// Replaces the first `count` occurrences, or all if it is negative.
Text replaced(Context& context, const Text& text, const Text& from, const Text& to, int64_t count);

/// Parts between separators, or between runs of white space; at most `most` cuts, or any number if it is
/// negative.
std::vector<Text> split(Context& context, const Text& text, const std::optional<Text>& separator,
                        int64_t most);
std::vector<Text> split_from_right(Context& context, const Text& text, const std::optional<Text>& separator,
                                   int64_t most);
std::vector<Text> split_lines(Context& context, const Text& text, bool keeps_ends);

/// The text, filled up to this number of characters.
Text justified(Context& context, const Text& text, int64_t width, const Text& fill, Ends where);
int64_t count_characters(std::string_view bytes);

}  // namespace tessera::jinja
