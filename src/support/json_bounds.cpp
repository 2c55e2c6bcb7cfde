#include "support/json_bounds.h"

#include "support/error.h"

namespace tessera {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

enum class Kind { kNone, kBlank, kWord, kString };

}  // namespace

void check_json_bounds(std::string_view text, const JsonBounds& bounds, const std::string& where) {
    const auto refuse = [&](size_t at, const std::string& problem) {
        throw Error(fmt::format("{}@{}", where, at), "", problem);
    };
    if (text.size() > bounds.bytes)
        throw Error(
            where, "",
            fmt::format("is {} bytes long, more than the {} that are read", text.size(), bounds.bytes));
    size_t values = 1;
    int depth = 0;
    Kind kind = Kind::kNone;
    size_t begin = 0;  // of the present string, word or run of blanks
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (kind != Kind::kNone && at - begin > bounds.word)
            refuse(begin, fmt::format("holds a word, or blanks, of more than {} bytes", bounds.word));
        if (kind == Kind::kString) {
            if (c == '\\') ++at;
            if (c == '"') kind = Kind::kNone;
            continue;
        }
        const Kind now = c == '"'                                                       ? Kind::kString
                         : is_blank(c)                                                  ? Kind::kBlank
                         : std::string_view("[]{},:").find(c) != std::string_view::npos ? Kind::kNone
                                                                                        : Kind::kWord;
        if (now != kind) begin = at;
        kind = now;
        if (c == '[' || c == '{') {
            if (++depth > bounds.depth)
                refuse(at, fmt::format("is nested more than {} levels deep", bounds.depth));
        }
        if (c == ']' || c == '}') --depth;
        if (c == '[' || c == '{' || c == ',' || c == ':') ++values;
        if (values > bounds.values)
            refuse(at, fmt::format("holds more than the {} values that are read", bounds.values));
    }
    if (text.size() - begin > bounds.word && kind != Kind::kNone)
        refuse(begin, fmt::format("holds a word, or blanks, of more than {} bytes", bounds.word));
}

}  // namespace tessera
