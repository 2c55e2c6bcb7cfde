#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "run/grammar/character_ranges.h"
#include "run/grammar/limits.h"
#include "run/grammar/regular_expression.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::grammar {
namespace {

using Part = RegularExpression::Part;
using PartKind = RegularExpression::Kind;
using Ranges = std::vector<CodePointRange>;

bool is_between(char32_t c, char32_t first, char32_t last) {
    return first <= c && c <= last;
}

std::optional<char32_t> digit_of(char32_t c) {
    if (is_between(c, '0', '9')) return c - '0';
    if (is_between(c, 'a', 'f')) return c - 'a' + 10;
    if (is_between(c, 'A', 'F')) return c - 'A' + 10;
    return std::nullopt;
}

/// ECMA 262, CharacterClassEscape: the sets of \d, \s, \w, and of \D, \S, \W. Other languages take more for
/// white space and for parts of words. Characters on which languages differ belong neither to the set nor to
/// its complement: `excludes` asks for the set that the complement leaves out.
std::optional<Ranges> class_escape(char32_t letter, bool excludes) {
    Ranges set;
    switch (letter) {
        case 'd':
            return Ranges{{'0', '9'}};
        case 'w':
            set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
            if (excludes) set.push_back({0x80, kLargestCodePoint});
            return set;
        case 's':
            set = {{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                   {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
            if (excludes) set.insert(set.end(), {{0x1c, 0x1f}, {0x85, 0x85}, {0xfeff, 0xfeff}});
            return set;
        case 'D':
        case 'W':
        case 'S':
            return complement(*class_escape(letter - 'A' + 'a', !excludes));
        default:
            return std::nullopt;
    }
}

class RegexParser {
public:
    RegexParser(std::string_view pattern, const std::string& where, const std::string& place)
        : where_(where), place_(place), text_(characters_of(pattern)) {}

    RegularExpression parse() && {
        result_.root = choice(0);
        if (at_ < text_.size()) fail("has a ) without its (");
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(const std::string& problem, const std::string& advice = {}) const {
        throw Error(where_, place_, fmt::format("at character {} the pattern {}", at_ + 1, problem), advice);
    }
    [[noreturn]] void refuse(const std::string& what) const {
        fail(what + ", which is not supported", "leave it out, or write the whole as a grammar (--grammar)");
    }

    bool sees(std::u32string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
    bool take(std::u32string_view what) {
        if (!sees(what)) return false;
        at_ += what.size();
        return true;
    }
    char32_t next(const char* missing) {
        if (at_ >= text_.size()) fail(fmt::format("ends before {}", missing));
        return text_[at_++];
    }

    RegexPart add(Part part) {
        if (result_.parts.size() >= Limits().nodes) fail("is too long");
        result_.parts.push_back(std::move(part));
        return static_cast<RegexPart>(result_.parts.size() - 1);
    }
    RegexPart characters(const Ranges& ranges) {
        return add({.kind = PartKind::kCharacter, .characters = normalized(ranges)});
    }

    RegexPart choice(int depth) {
        if (depth > Limits().depth) fail("has too many groups inside each other");
        std::vector<RegexPart> ways = {sequence(depth)};
        while (take(U"|")) ways.push_back(sequence(depth));
        return ways.size() == 1 ? ways.front() : add({.kind = PartKind::kChoice, .parts = std::move(ways)});
    }

    RegexPart sequence(int depth) {
        std::vector<RegexPart> parts;
        while (at_ < text_.size() && !sees(U"|") && !sees(U")")) parts.push_back(quantified(depth));
        return add({.kind = PartKind::kSequence, .parts = std::move(parts)});
    }

    RegexPart quantified(int depth) {
        const RegexPart part = atom(depth);
        const PartKind kind = result_.parts[part].kind;
        const auto counts = quantifier();
        if (!counts) return part;
        if (kind == PartKind::kAssertion || kind == PartKind::kLookahead)
            fail("repeats what has no characters");
        take(U"?");  // as few as possible: the same texts
        if (sees(U"+") || sees(U"*") || sees(U"?")) fail("has two quantifiers behind each other");
        return add(
            {.kind = PartKind::kRepetition, .parts = {part}, .least = counts->first, .most = counts->second});
    }

    std::optional<std::pair<int64_t, std::optional<int64_t>>> quantifier() {
        if (take(U"*")) return {{0, std::nullopt}};
        if (take(U"+")) return {{1, std::nullopt}};
        if (take(U"?")) return {{0, 1}};
        const size_t before = at_;
        if (!take(U"{")) return std::nullopt;
        const std::optional<int64_t> least = count();
        std::optional<int64_t> most = least;
        if (take(U",")) most = count();
        if (!least && most) refuse("has a count without its first number");
        if (!least || !take(U"}")) {
            at_ = before;  // it is a brace
            return std::nullopt;
        }
        if (most && *least > *most) fail("has the larger count first");
        return {{*least, most}};
    }

    std::optional<int64_t> count() {
        std::optional<int64_t> value;
        while (at_ < text_.size() && is_between(text_[at_], '0', '9')) {
            value = value.value_or(0) * 10 + static_cast<int64_t>(text_[at_] - '0');
            if (*value > Limits().repetitions)
                fail(fmt::format("has a count above {}", Limits().repetitions));
            ++at_;
        }
        return value;
    }

    RegexPart atom(int depth) {
        const char32_t c = text_[at_];
        if (c == '(') return group(depth);
        ++at_;
        switch (c) {
            case '^':
                return add({.kind = PartKind::kAssertion, .assertion = Assertion::kBegin});
            case '$':
                return add({.kind = PartKind::kAssertion, .assertion = Assertion::kEnd});
            case '.':
                return characters(complement({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}));
            case '[':
                return bracket();
            case '*':
            case '+':
            case '?':
                --at_;
                fail("repeats nothing");
            case '\\':
                break;
            default:
                return characters({{c, c}});
        }
        if (take(U"b")) return add({.kind = PartKind::kAssertion, .assertion = Assertion::kWordBoundary});
        if (take(U"B")) return add({.kind = PartKind::kAssertion, .assertion = Assertion::kNoWordBoundary});
        return characters(escape(false, false));
    }

    RegexPart group(int depth) {
        ++at_;
        Part part{.kind = PartKind::kSequence};
        if (sees(U"?<=") || sees(U"?<!")) refuse("looks behind");
        if (sees(U"?=") || sees(U"?!")) {
            part = {.kind = PartKind::kLookahead, .is_negative = sees(U"?!")};
            at_ += 2;
        } else if (take(U"?<")) {
            while (next("the name of its group") != '>') {
            }
        } else if (sees(U"?") && !take(U"?:")) {
            refuse("has a group of another language");
        }
        part.parts = {choice(depth + 1)};
        if (!take(U")")) fail("has a ( without its )");
        return add(std::move(part));
    }

    /// The characters of an escape; behind its backslash.
    Ranges escape(bool in_brackets, bool excludes) {
        const char32_t c = next("the character that it escapes");
        if (auto set = class_escape(c, excludes)) return *std::move(set);
        const auto one = [](char32_t value) { return Ranges{{value, value}}; };
        switch (c) {
            case 't':
                return one('\t');
            case 'n':
                return one('\n');
            case 'v':
                return one('\v');
            case 'f':
                return one('\f');
            case 'r':
                return one('\r');
            case 'b':
                if (in_brackets) return one('\b');
                break;
            case '0':
                if (at_ < text_.size() && is_between(text_[at_], '0', '9')) break;
                return one(0);
            case 'c':
                return one(next("its control letter") % 32);
            case 'x':
                return one(hexadecimal(2));
            case 'u':
                return one(unicode());
            default:
                break;
        }
        --at_;
        if (is_between(c, '0', '9') || c == 'k') refuse("refers back to a group");
        if (c == 'p' || c == 'P') refuse("names a property of characters");
        if (is_between(c, 'a', 'z') || is_between(c, 'A', 'Z'))
            refuse(fmt::format("has the escape \\{}", static_cast<char>(c)));
        ++at_;
        return one(c);
    }

    char32_t hexadecimal(int digits) {
        char32_t value = 0;
        for (int i = 0; i < digits; ++i) {
            const auto digit = digit_of(next("its hexadecimal digits"));
            if (!digit) fail("has an escape without its hexadecimal digits");
            value = value * 16 + *digit;
        }
        return value;
    }

    char32_t unicode() {
        char32_t value = 0;
        if (take(U"{")) {
            for (char32_t c = next("a }"); c != '}'; c = next("a }")) {
                const auto digit = digit_of(c);
                if (!digit || value > kLargestCodePoint) fail("has an escape that is no code point");
                value = value * 16 + *digit;
            }
        } else {
            value = hexadecimal(4);
            // A pair of surrogates is one character.
            if (is_between(value, 0xd800, 0xdbff) && take(U"\\u")) {
                const char32_t second = hexadecimal(4);
                if (!is_between(second, 0xdc00, 0xdfff)) fail("has half a character");
                value = 0x10000 + ((value - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        if (value > kLargestCodePoint) fail("has an escape that is no code point");
        return value;
    }

    RegexPart bracket() {
        const bool is_negative = take(U"^");
        Ranges ranges;
        while (!take(U"]")) {
            const Ranges first = bracket_member(is_negative);
            if (!sees(U"-") || sees(U"-]")) {
                ranges.insert(ranges.end(), first.begin(), first.end());
                continue;
            }
            ++at_;
            const Ranges last = bracket_member(is_negative);
            const bool are_single = first.size() == 1 && last.size() == 1 &&
                                    first[0].first == first[0].last && last[0].first == last[0].last;
            if (!are_single || first[0].first > last[0].first) fail("has a range without two ends in order");
            ranges.push_back({first[0].first, last[0].first});
        }
        return characters(is_negative ? complement(ranges) : ranges);
    }

    Ranges bracket_member(bool excludes) {
        const char32_t c = next("a ]");
        if (c == '\\') return escape(true, excludes);
        return {{c, c}};
    }

    const std::string& where_;
    const std::string& place_;
    std::u32string text_;
    size_t at_ = 0;
    RegularExpression result_;
};

}  // namespace

RegularExpression parse_regular_expression(std::string_view pattern, const std::string& where,
                                           const std::string& place) {
    return RegexParser(pattern, where, place).parse();
}

}  // namespace tessera::grammar
