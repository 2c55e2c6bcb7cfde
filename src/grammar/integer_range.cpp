#include "grammar/integer_range.h"

#include <algorithm>
#include <string>
#include <vector>

// Digit by digit, from numbers of one length: between 138 and 275 lies 1, then 38 to 99; or 2, then 00 to 75.
// Digits between the first ones may be followed by anything.

namespace tessera::grammar {
namespace {

bool is_all(std::string_view text, char digit) {
    return std::all_of(text.begin(), text.end(), [&](char c) { return c == digit; });
}

NodeId digits(JsonRules& rules, char first, char last) {
    return rules.characters({{static_cast<unsigned char>(first), static_cast<unsigned char>(last)}});
}

/// Texts of digits between two of one length, both ends included.
NodeId between(JsonRules& rules, const std::string& low, const std::string& high) {
    if (low.empty()) return rules.literal("");
    const std::string low_tail = low.substr(1), high_tail = high.substr(1);
    const auto tail_count = static_cast<int64_t>(low_tail.size());
    if (low.front() == high.front())
        return rules.sequence({rules.literal(low.substr(0, 1)), between(rules, low_tail, high_tail)});
    std::vector<NodeId> ways;
    char first = low.front(), last = high.front();
    if (!is_all(low_tail, '0')) {
        const std::string nines(low_tail.size(), '9');
        ways.push_back(rules.sequence({digits(rules, first, first), between(rules, low_tail, nines)}));
        ++first;
    }
    if (!is_all(high_tail, '9')) {
        const std::string zeros(high_tail.size(), '0');
        ways.push_back(rules.sequence({digits(rules, last, last), between(rules, zeros, high_tail)}));
        --last;
    }
    if (first <= last)
        ways.push_back(rules.sequence(
            {digits(rules, first, last), rules.repeated(digits(rules, '0', '9'), tail_count, tail_count)}));
    return rules.choice(std::move(ways));
}

/// @pre 0 <= low <= high
void add_naturals(JsonRules& rules, uint64_t low, uint64_t high, const char* sign,
                  std::vector<NodeId>& ways) {
    std::string first = std::to_string(low);
    const std::string last = std::to_string(high);
    while (first.size() < last.size()) {
        const std::string nines(first.size(), '9');
        ways.push_back(rules.sequence({rules.literal(sign), between(rules, first, nines)}));
        first = "1" + std::string(first.size(), '0');
    }
    ways.push_back(rules.sequence({rules.literal(sign), between(rules, first, last)}));
}

}  // namespace

NodeId integer_range(JsonRules& rules, int64_t low, int64_t high) {
    std::vector<NodeId> ways;
    const auto magnitude = [](int64_t value) {
        return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    };
    if (high >= 0) add_naturals(rules, magnitude(std::max<int64_t>(low, 0)), magnitude(high), "", ways);
    if (low < 0) add_naturals(rules, high < 0 ? magnitude(high) : 1, magnitude(low), "-", ways);
    return rules.choice(std::move(ways));
}

}  // namespace tessera::grammar
