#include "nest/nest_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "ir/characters.h"
#include "support/error.h"
#include "support/printable.h"
#include "support/shown.h"

namespace tessera::nest {
namespace {

constexpr size_t kMostTokens = size_t{1} << 16;
constexpr int kDeepestBrace = 128;
constexpr size_t kLongestShown = 60;  ///< bytes of a message

/// As names of operators and values are written.
bool continues_node_name(char c) {
    return continues_name(c) || c == '.' || c == '-';
}

bool continues_word(char c) {
    return continues_node_name(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Words, and other characters one by one.
std::vector<std::string_view> split_tokens(std::string_view text, const std::string& where) {
    std::vector<std::string_view> tokens;
    for (size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && continues_word(text[end])) ++end;
        end = std::max(end, at + 1);
        tokens.push_back(text.substr(at, end - at));
        at = end;
        if (tokens.size() > kMostTokens)
            throw Error(where, "nest", fmt::format("has more than {} words", kMostTokens));
    }
    return tokens;
}

bool is_word(std::string_view token) {
    return std::ranges::all_of(token, continues_word);
}

bool is_name(std::string_view token) {
    return std::ranges::all_of(token, continues_node_name);
}

bool is_number(std::string_view token) {
    return std::ranges::all_of(token, is_digit);
}

int64_t number_of(std::string_view token) {
    int64_t value = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    return status == std::errc::result_out_of_range ? std::numeric_limits<int64_t>::max() : value;
}

class NestParser {
public:
    NestParser(std::string_view text, const std::string& where, Moves moves)
        : text_(text), where_(where), moves_(moves), tokens_(split_tokens(text, where)) {}

    WrittenNest all_items() { return whole(items(0)); }
    WrittenNest one_nest() { return whole(brace(0)); }

private:
    WrittenNest whole(WrittenNest nest) const {
        if (!at_end()) fail("the end");
        return nest;
    }

    bool at_end() const { return next_ == tokens_.size(); }
    bool at(std::string_view token) const { return !at_end() && tokens_[next_] == token; }
    bool is_name_next(size_t ahead = 0) const {
        return next_ + ahead < tokens_.size() && is_name(tokens_[next_ + ahead]);
    }
    bool accept(std::string_view token) {
        if (!at(token)) return false;
        ++next_;
        return true;
    }

    [[noreturn]] void fail(std::string_view expected) const {
        throw BrokenForm(fmt::format("expected {} before `{}`", expected, ahead()), position());
    }

    size_t position() const {
        return at_end() ? text_.size() + 1 : static_cast<size_t>(tokens_[next_].data() - text_.data()) + 1;
    }

    /// The next words, for a message.
    std::string ahead() const {
        if (at_end()) return "the end";
        const size_t last = std::min(tokens_.size(), next_ + 6);
        std::string words(tokens_[next_]);
        for (size_t i = next_ + 1; i < last; ++i) words.append(" ").append(tokens_[i]);
        return printable(words.substr(0, kLongestShown));
    }

    std::string take(bool (*fits)(std::string_view), std::string_view what) {
        if (at_end() || !fits(tokens_[next_])) fail(what);
        return std::string(tokens_[next_++]);
    }
    std::string name(std::string_view what) { return take(is_name, what); }

    void expect(std::string_view token) {
        if (!accept(token)) fail(fmt::format("`{}`", token));
    }

    WrittenNest::Loop loop() {
        WrittenNest::Loop loop{.iterator = name("an iterator or `{`")};
        expect(":");
        loop.tile = tile(loop.iterator);
        if (accept_bind("worker"))
            loop.bind = Bind::kWorker;
        else if (accept_bind("unit"))
            loop.bind = Bind::kUnit;
        else if (at("@"))
            fail("`@worker`, `@unit` or `{`");
        return loop;
    }

    /// `@` and the word, with no space between them.
    bool accept_bind(std::string_view word) {
        if (!at("@") || !is_name_next(1)) return false;
        const std::string_view next = tokens_[next_ + 1];
        if (next != word || next.data() != tokens_[next_].data() + 1) return false;
        next_ += 2;
        return true;
    }

    int64_t tile(const std::string& iterator) {
        if (accept("?")) return kOpenTile;
        if (at_end() || !is_number(tokens_[next_])) fail("the size of a tile");
        const int64_t size = number_of(tokens_[next_]);
        if (size < 1) throw BrokenForm(fmt::format("a tile of {} is empty", shown(iterator)), position());
        ++next_;
        return size;
    }

    /// The kind of move that begins here, if one does.
    std::optional<MoveKind> move_kind() const {
        if (moves_ == Moves::kNone || !is_name_next(1)) return std::nullopt;
        for (const MoveKind kind : {MoveKind::kLoad, MoveKind::kStore, MoveKind::kKeep})
            if (at(nest::name(kind)) && (moves_ == Moves::kLevels || kind == MoveKind::kLoad)) return kind;
        return std::nullopt;
    }

    WrittenMove move(MoveKind kind) {
        ++next_;
        WrittenMove move{.kind = kind, .tensor = name("a tensor")};
        if (moves_ == Moves::kLevels) {
            expect("@");
            move.level = accept("?") ? "?" : take(is_word, "the name of a level");
        } else if (accept("as")) {
            const size_t first = next_;
            while (!at_end() && !at(";") && !at("}")) ++next_;
            if (next_ == first) fail("a layout");
            const std::string_view last = tokens_[next_ - 1];
            move.layout = {tokens_[first].data(), last.data() + last.size()};
        }
        return move;
    }

    WrittenOperator op() {
        WrittenOperator op{.name = name("an operator or `}`")};
        if (!accept("[")) return op;
        op.kernel = WrittenKernel{.name = name("a micro-kernel"), .parameters = {}};
        while (!accept("]")) {
            const size_t begin = position();
            std::string key = name("a parameter or `]`");
            expect("=");
            if (std::ranges::find(op.kernel->parameters, key, &std::pair<std::string, std::string>::first) !=
                op.kernel->parameters.end())
                throw BrokenForm(fmt::format("{} is given twice", shown(key)), begin);
            op.kernel->parameters.emplace_back(std::move(key), name("a value"));
        }
        return op;
    }

    WrittenNest brace(int depth) {
        if (depth == kDeepestBrace)
            throw Error(where_, "nest", fmt::format("has more than {} braces in one another", kDeepestBrace));
        std::vector<WrittenNest::Loop> loops;
        while (!at("{")) loops.push_back(loop());
        expect("{");
        WrittenNest nest = items(depth + 1);
        nest.loops = std::move(loops);
        if (!accept("}")) fail("an operator or `}`");
        return nest;
    }

    WrittenNest items(int depth) {
        WrittenNest nest;
        while (!at_end() && !at("}")) {
            if (accept(";")) continue;
            const bool is_brace = at("{") || (next_ + 1 < tokens_.size() && tokens_[next_ + 1] == ":");
            if (is_brace)
                nest.items.emplace_back(brace(depth));
            else if (const std::optional<MoveKind> kind = move_kind())
                nest.items.emplace_back(move(*kind));
            else
                nest.items.emplace_back(op());
        }
        return nest;
    }

    std::string_view text_;
    const std::string& where_;
    const Moves moves_;
    std::vector<std::string_view> tokens_;
    size_t next_ = 0;
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

std::string print(const WrittenOperator& op) {
    if (!op.kernel) return op.name;
    std::string text = fmt::format("{}[{}", op.name, op.kernel->name);
    for (const auto& [name, value] : op.kernel->parameters) text += fmt::format(" {}={}", name, value);
    return text + "]";
}

std::string print(const WrittenMove& move) {
    std::string text = fmt::format("{} {}", name(move.kind), move.tensor);
    if (!move.level.empty()) text += fmt::format(" @{}", move.level);
    if (!move.layout.empty()) text += fmt::format(" as {}", move.layout);
    return text;
}

std::string print(const WrittenNest& nest) {
    return print_braces(
        nest, [](const WrittenNest&, const WrittenNest::Loop& loop) { return loop.iterator; },
        [](const auto& item) { return print(item); });
}

std::string detail::loop_text(std::string_view iterator, int64_t tile, Bind bind) {
    const std::string_view runner = bind == Bind::kWorker ? "@worker" : bind == Bind::kUnit ? "@unit" : "";
    if (tile == kOpenTile) return fmt::format("{}:?{} ", iterator, runner);
    return fmt::format("{}:{}{} ", iterator, tile, runner);
}

WrittenNest parse_nest(std::string_view text, const std::string& where, Moves moves) {
    return NestParser(text, where, moves).all_items();
}

WrittenNest parse_braces(std::string_view text, const std::string& where, Moves moves) {
    return NestParser(text, where, moves).one_nest();
}

}  // namespace tessera::nest
