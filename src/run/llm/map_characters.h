#pragma once

#include <string>
#include <string_view>

namespace tessera::llm {

/// Steps of `tokenizer.json` that treat every character by itself, as the `tokenizers` library defines them.
/// All take valid UTF-8.

/// BERT's `clean_text`: control characters vanish, white space becomes a space.
std::string clean_text(std::string_view text);
/// BERT's `handle_chinese_chars`: a space on both sides of every ideograph.
std::string surround_ideographs(std::string_view text);
/// Characters of category Mn vanish, or of all of M.
std::string remove_marks(std::string_view text, bool only_nonspacing);
/// Control characters vanish, separators and marks of direction become spaces: the rules of NMT, before NFKC.
std::string apply_nmt_rules(std::string_view text);

/// Unicode category P, or another ASCII character that is neither letter, digit, space nor control.
bool is_punctuation(char32_t character);

}  // namespace tessera::llm
