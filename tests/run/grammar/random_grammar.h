#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace tessera::grammar {

/// The text of a grammar over few characters, with every construct of the language. Many are left recursive,
/// or have no text.
std::string random_grammar(std::mt19937& random);

}  // namespace tessera::grammar
