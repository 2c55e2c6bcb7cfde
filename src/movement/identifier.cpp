#include "movement/identifier.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

namespace tessera::movement {

const std::set<std::string>& reserved_identifiers() {
    constexpr const char* kWords = R"(
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
const consteval constexpr constinit continue decltype default delete do double else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register requires return short signed
sizeof static struct switch template this throw true try typedef typeid typename union unsigned
using virtual void volatile while xor xor_eq char8_t char16_t char32_t wchar_t co_await co_return
co_yield int32_t int64_t at group ntt step tessera repetition valid worker int8_t uint8_t uint32_t
size_t std assert errno stdin stdout stderr const_cast dynamic_cast reinterpret_cast static_cast
static_assert thread_local typeof import module)";
    static const std::set<std::string> words = [] {
        std::istringstream text(kWords);
        return std::set<std::string>(std::istream_iterator<std::string>(text), {});
    }();
    return words;
}

namespace {

/// INT64_MAX, NULL, EOF: the macros of headers are not all known, but their spelling is.
bool may_be_macro(const std::string& word) {
    return word.size() > 1 && std::ranges::none_of(word, [](unsigned char c) { return std::islower(c); });
}

/// Names that code generation makes, some of them derived from other names.
bool may_be_made(const std::string& word) {
    return word.ends_with("_lanes") || word.ends_with("_body") || word.starts_with("Factor");
}

}  // namespace

std::string identifier(const std::string& name) {
    std::string out;
    for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) return "v" + out;
    // `float` becomes `float_`, and so that they stay two, `float_` becomes `float__`.
    const size_t end = out.find_last_not_of('_');
    const std::string word = end == std::string::npos ? "" : out.substr(0, end + 1);
    const bool is_taken = word.empty() || word[0] == '_' || reserved_identifiers().contains(word) ||
                          may_be_macro(word) || may_be_made(word);
    return is_taken ? out + "_" : out;
}

bool is_part_of_identifier(const std::string& name) {
    const auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); };
    return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
        return is_letter(c) || ('0' <= c && c <= '9') || c == '_';
    });
}

}  // namespace tessera::movement
