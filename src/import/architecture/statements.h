#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::import {

/// One statement of an architecture's text, without its comments, and the line where it begins.
struct StatementText {
    std::string text;
    int line = 0;
};

/// Bounds of a text, which may come from anywhere.
inline constexpr size_t kLongestText = 1 << 16;
inline constexpr size_t kMostStatements = 1000;

/// Divides a text into statements. One ends at a `;` or at the end of a line, but not within brackets, nor
/// behind a comma, nor before a line that begins with four blanks. @throws Error naming `where` and the line
/// for texts beyond the bounds, and for brackets and quotation marks that nothing closes.
std::vector<StatementText> statements_of(std::string_view text, const std::string& where);

}  // namespace tessera::import
