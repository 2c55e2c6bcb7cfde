#pragma once

#include <span>
#include <string>
#include <string_view>

/// Advice for people who come from llama.cpp or ollama, whose words mean something else here, or nothing.
namespace tessera::cli {

/// For a word in the place of the verb that is none; empty where nothing is known of it.
std::string advice_on_first_word(std::string_view word);

/// The first of these words that is a flag of llama.cpp or ollama and not of Tessera, with what to write
/// instead; empty if none is.
std::string foreign_flag(std::span<char* const> words);

/// The same of those with one dash and several letters, which would be read as flags of one letter: -hf as
/// -h.
std::string misread_flag(std::span<char* const> words);

}  // namespace tessera::cli
