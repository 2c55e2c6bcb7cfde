#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::llm {

/// The alphabet of byte-level vocabularies: every byte has one printable character, so that a vocabulary of
/// byte strings can be stored as text. 33-126, 161-172 and 174-255 stand for themselves; the other 68 bytes
/// are, in order, the characters from U+0100 on (so a space is U+0120 "Ġ", a newline U+010A "Ċ"). Source:
/// Radford et al., "Language Models are Unsupervised Multitask Learners" (GPT-2), encoder of the release.

/// The character of a byte as UTF-8, 1 or 2 bytes.
std::string_view alphabet_character(uint8_t byte);
void append_alphabet(std::string& out, std::string_view bytes);

/// The bytes that a text in the alphabet stands for; empty when a character is not of the alphabet.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

}  // namespace tessera::llm
