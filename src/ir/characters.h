#pragma once

/// Character classes of the notation, whatever the locale.
namespace tessera {

constexpr bool is_digit(char c) {
    return '0' <= c && c <= '9';
}
/// An ASCII letter or an underscore: what a name may start with.
constexpr bool starts_name(char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}
constexpr bool continues_name(char c) {
    return starts_name(c) || is_digit(c);
}

}  // namespace tessera
