#pragma once

#include <string_view>

#include "ir/lexer.h"
#include "nest/nests/kernel_file.h"

namespace tessera::nests {

/// A number that has to be at least 0. @throws Error
double real_of(TokenStream& tokens, std::string_view what);
/// A number above 0. @throws Error
double positive_real(TokenStream& tokens, std::string_view what);

/// True if a line that begins so describes a machine with levels, or an open problem on one.
bool is_level_line(std::string_view word);
/// Reads such a line into the file. @param tokens the rest of the line, behind the word @throws Error
void read_level_line(std::string_view word, TokenStream& tokens, KernelFile& file);
/// Checks that the machine is whole and its times are of operators of the file. @throws Error
void check_levels(const KernelFile& file);

}  // namespace tessera::nests
