#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/jinja/context.h"

namespace tessera::jinja {

enum class TokenKind {
    kData,  ///< text between tags, white space control applied
    kVariableBegin,
    kVariableEnd,  ///< {{ }}
    kBlockBegin,
    kBlockEnd,  ///< {% %}
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd,
};

struct Token {
    TokenKind kind = TokenKind::kEnd;
    std::string text;  ///< data, name, operator; of a string its value
    int64_t integer = 0;
    double real = 0;
    Position position;

    bool is(TokenKind wanted, std::string_view value) const { return kind == wanted && text == value; }
};

/// Cuts a template into tokens, with `trim_blocks` and `lstrip_blocks`, as `transformers` sets them: the line
/// break after a block goes, and the white space before a block that begins its line. Comments and raw blocks
/// are gone, the last token is kEnd.
/// @throws Error with row and column
std::vector<Token> lex(std::string_view source, const std::string& where);

/// The value of a text between quotes, with Python's escapes. @throws Error at the position
std::string unescape(std::string_view quoted, const std::string& where, Position position);

}  // namespace tessera::jinja
