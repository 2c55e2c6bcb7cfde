#include "run/grammar/random_grammar.h"

#include <array>

namespace tessera::grammar {
namespace {

class Writer {
public:
    explicit Writer(std::mt19937& random) : random_(random), rules_(1 + below(4)) {}

    std::string write() {
        std::string text;
        for (uint32_t rule = 0; rule < rules_; ++rule) text += name(rule) + " ::= " + choice(2) + "\n";
        return text;
    }

private:
    uint32_t below(uint32_t count) { return random_() % count; }
    static std::string name(uint32_t rule) { return rule == 0 ? "root" : "r" + std::to_string(rule); }

    std::string choice(int depth) {
        std::string text = sequence(depth);
        for (uint32_t i = below(3); i > 0; --i) text += " | " + sequence(depth);
        return text;
    }

    std::string sequence(int depth) {
        std::string text;
        for (uint32_t i = below(4); i > 0; --i) text += (text.empty() ? "" : " ") + repeated(depth);
        return text.empty() ? "\"\"" : text;
    }

    std::string repeated(int depth) {
        constexpr std::array<const char*, 12> kCounts = {"",  "",  "",  "",    "",      "",
                                                         "*", "+", "?", "{2}", "{0,2}", "{1,}"};
        return symbol(depth) + kCounts[below(kCounts.size())];
    }

    std::string symbol(int depth) {
        constexpr std::array<const char*, 10> kLeaves = {"\"a\"",     "\"b\"", "\"ab\"",      "\"\\u00e9\"",
                                                         "[ab]",      "[^a]",  "[b-\\u00e9]", "\"a\\x62\"",
                                                         "[\\u00e9]", "."};
        const uint32_t kind = below(depth > 0 ? 5 : 4);
        if (kind == 4) return "(" + choice(depth - 1) + ")";
        if (kind == 3) return name(below(rules_));
        return kLeaves[below(kLeaves.size())];
    }

    std::mt19937& random_;
    uint32_t rules_;
};

}  // namespace

std::string random_grammar(std::mt19937& random) {
    return Writer(random).write();
}

}  // namespace tessera::grammar
