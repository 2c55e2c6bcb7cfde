#include "nests/nest_syntax.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "ir/characters.h"
#include "support/error.h"
#include "support/printable.h"
#include "support/shown.h"

namespace tessera::nests {
namespace {

constexpr size_t kMostTokens = size_t{1} << 16;
constexpr int kDeepestBrace = 128;
constexpr size_t kLongestShown = 60;  ///< bytes of a message

bool continues_word(char c) {
    return continues_name(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::vector<std::string_view> split_tokens(std::string_view text, const std::string& where) {
    constexpr std::string_view kUnit = "@unit";
    std::vector<std::string_view> tokens;
    for (size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && continues_word(text[end])) ++end;
        if (text.substr(at).starts_with(kUnit) &&
            (at + kUnit.size() == text.size() || !continues_word(text[at + kUnit.size()])))
            end = at + kUnit.size();
        end = std::max(end, at + 1);
        tokens.push_back(text.substr(at, end - at));
        at = end;
        if (tokens.size() > kMostTokens)
            throw Error(where, "nest", fmt::format("has more than {} words", kMostTokens));
    }
    return tokens;
}

bool is_number(std::string_view token) {
    return !token.empty() && std::ranges::all_of(token, is_digit);
}

bool is_level(std::string_view token) {
    return !token.empty() && std::ranges::all_of(token, continues_word);
}

bool is_word(std::string_view token) {
    return !token.empty() && starts_name(token[0]) && std::ranges::all_of(token, continues_name);
}

int64_t number_of(std::string_view token) {
    int64_t value = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    return status == std::errc::result_out_of_range ? std::numeric_limits<int64_t>::max() : value;
}

class NestParser {
public:
    NestParser(std::string_view text, const std::string& where, NestLanguage language)
        : where_(where), language_(language), tokens_(split_tokens(text, where)) {}

    WrittenBrace run() {
        WrittenBrace nest = brace(0);
        if (!at_end()) throw BrokenForm(fmt::format("`{}` follows the nest", ahead()));
        return nest;
    }

private:
    bool at_end() const { return position_ == tokens_.size(); }
    bool at(std::string_view token) const { return !at_end() && tokens_[position_] == token; }
    bool accept(std::string_view token) {
        if (!at(token)) return false;
        ++position_;
        return true;
    }

    /// The next words, for a message.
    std::string ahead() const {
        if (at_end()) return "the end";
        const size_t last = std::min(tokens_.size(), position_ + 6);
        std::string words(tokens_[position_]);
        for (size_t i = position_ + 1; i < last; ++i) words.append(" ").append(tokens_[i]);
        return printable(words.substr(0, kLongestShown));
    }

    std::string_view take(bool (*fits)(std::string_view), std::string_view what) {
        if (at_end() || !fits(tokens_[position_]))
            throw BrokenForm(fmt::format("expected {} before `{}`", what, ahead()));
        return tokens_[position_++];
    }

    void expect(std::string_view token) {
        if (!accept(token)) throw BrokenForm(fmt::format("expected `{}` before `{}`", token, ahead()));
    }

    WrittenLoop loop() {
        WrittenLoop loop;
        loop.iterator = take(is_word, "an iterator or `{`");
        expect(":");
        if (has_levels() && accept("?")) {
            loop.size = 0;
        } else {
            loop.size = number_of(take(is_number, "the size of a tile"));
            if (loop.size < 1) throw BrokenForm(fmt::format("a tile of {} is empty", shown(loop.iterator)));
        }
        loop.is_unit = accept("@unit");
        return loop;
    }

    bool has_levels() const { return language_ == NestLanguage::kLevels; }

    /// The kind of move that the next token begins, if it begins one.
    std::optional<MoveKind> move_kind() const {
        for (const MoveKind kind : {MoveKind::kLoad, MoveKind::kStore, MoveKind::kKeep})
            if (at(name(kind)) && (has_levels() || kind == MoveKind::kLoad)) return kind;
        return std::nullopt;
    }

    WrittenMove move(MoveKind kind) {
        ++position_;
        WrittenMove move{.kind = kind, .tensor = std::string(take(is_word, "a tensor")), .level = {}};
        if (!has_levels()) return move;
        expect("@");
        move.level = accept("?") ? "?" : take(is_level, "the name of a level");
        return move;
    }

    WrittenBrace brace(int depth) {
        if (depth == kDeepestBrace)
            throw Error(where_, "nest", fmt::format("has more than {} braces in one another", kDeepestBrace));
        WrittenBrace brace_here;
        while (!at("{")) brace_here.loops.push_back(loop());
        expect("{");
        while (!at("}")) {
            if (accept(";")) continue;
            const bool is_brace =
                at("{") || (position_ + 1 < tokens_.size() && tokens_[position_ + 1] == ":");
            if (is_brace)
                brace_here.items.emplace_back(std::make_unique<WrittenBrace>(brace(depth + 1)));
            else if (const std::optional<MoveKind> kind = move_kind())
                brace_here.items.emplace_back(move(*kind));
            else
                brace_here.items.emplace_back(WrittenRun{std::string(take(is_word, "an operator or `}`"))});
        }
        expect("}");
        return brace_here;
    }

    const std::string& where_;
    NestLanguage language_;
    std::vector<std::string_view> tokens_;
    size_t position_ = 0;
};

}  // namespace

std::string_view name(MoveKind kind) {
    switch (kind) {
        case MoveKind::kLoad:
            return "load";
        case MoveKind::kStore:
            return "store";
        case MoveKind::kKeep:
            break;
    }
    return "keep";
}

WrittenBrace parse_written_nest(std::string_view text, const std::string& where, NestLanguage language) {
    return NestParser(text, where, language).run();
}

}  // namespace tessera::nests
