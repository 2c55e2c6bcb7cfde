#include "run/grammar/json_rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "run/grammar/character_ranges.h"
#include "run/grammar/number_texts.h"
#include "run/grammar/schema_value.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

constexpr int64_t kMostBlanks = 40;
constexpr int64_t kMostWrittenOut = 100;

/// "a-fA-F0": characters and ranges of them
std::vector<CodePointRange> ranges_of(std::string_view text) {
    std::vector<CodePointRange> ranges;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto first = static_cast<unsigned char>(text[i]);
        const bool is_range = i + 2 < text.size() && text[i + 1] == '-';
        if (is_range) i += 2;
        ranges.push_back({first, static_cast<unsigned char>(text[i])});
    }
    return ranges;
}

/// The characters that may stand in a string as they are.
std::vector<CodePointRange> plain_characters() {
    return complement({{0, 0x1f}, {'"', '"'}, {'\\', '\\'}});
}

/// A character as JSON writes it where it has to be escaped.
std::string escaped(char32_t character) {
    const std::string quoted = json_string(std::string(1, static_cast<char>(character)));
    return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

JsonRules::JsonRules(const std::string& where, const Limits& limits) : limits_(limits) {
    rules_.where = where;
}

NodeId JsonRules::add(Node node) {
    if (rules_.nodes.size() >= limits_.nodes)
        throw Error(rules_.where, "",
                    fmt::format("the schema makes a grammar of more than {} parts", limits_.nodes));
    return rules_.add(std::move(node));
}

NodeId JsonRules::characters(const std::vector<CodePointRange>& ranges) {
    return add(CharacterClass{normalized(ranges)});
}

NodeId JsonRules::sequence(std::vector<NodeId> parts) {
    return parts.size() == 1 ? parts.front() : add(Sequence{std::move(parts)});
}

NodeId JsonRules::choice(std::vector<NodeId> parts) {
    return parts.size() == 1 ? parts.front() : add(Choice{std::move(parts)});
}

NodeId JsonRules::repeated(NodeId part, int64_t least, std::optional<int64_t> most) {
    return add(Repetition{part, least, most});
}

RuleId JsonRules::declare(std::string name, std::string where) {
    rules_.rules.push_back({std::move(name), 0, std::move(where)});
    return static_cast<RuleId>(rules_.rules.size() - 1);
}

template <typename Make>
NodeId JsonRules::shared(Shared& rule, Make&& make) {
    if (!rule.rule) {
        rule.rule = declare(rule.name, rules_.where);
        define(*rule.rule, make());
    }
    return call(*rule.rule);
}

NodeId JsonRules::blanks() {
    return shared(blanks_, [&] {
        const NodeId indent = repeated(characters({{' ', ' '}, {'\t', '\t'}}), 0, kMostBlanks);
        return choice({literal(""), literal(" "), sequence({literal("\n"), indent})});
    });
}

/// Four hexadecimal digits, the first two of these.
NodeId JsonRules::hexadecimal(std::string_view first, std::string_view second) {
    const NodeId any = characters(ranges_of("0-9a-fA-F"));
    return sequence({characters(ranges_of(first)), characters(ranges_of(second)), any, any});
}

/// One character of a string. Surrogates come in pairs.
NodeId JsonRules::character() {
    if (!character_) {
        const NodeId one = choice({hexadecimal("0-9a-cA-CefEF", "0-9a-fA-F"), hexadecimal("dD", "0-7")});
        const NodeId pair =
            sequence({hexadecimal("dD", "89abAB"), literal("\\u"), hexadecimal("dD", "c-fC-F")});
        const NodeId escape =
            choice({characters(ranges_of("\"\\/bfnrt")), sequence({literal("u"), choice({one, pair})})});
        character_ = choice({characters(plain_characters()), sequence({literal("\\"), escape})});
    }
    return *character_;
}

NodeId JsonRules::string() {
    return shared(string_, [&] { return string(0, std::nullopt); });
}

NodeId JsonRules::string(int64_t least, std::optional<int64_t> most) {
    const auto make = [&](NodeId one) {
        return sequence({literal("\""), repeated(one, least, most), literal("\"")});
    };
    if (std::max(least, most.value_or(0)) <= kMostWrittenOut) return make(character());
    // Written out so often, a character would take too many states, and so would the whole at each of its
    // places.
    const auto [rule, is_new] = long_strings_.try_emplace({least, most});
    if (is_new) {
        rule->second = declare("string", rules_.where);
        define(rule->second, make(shared(character_rule_, [&] { return character(); })));
    }
    return call(rule->second);
}

NodeId JsonRules::integer() {
    return shared(integer_, [&] {
        const NodeId digits = repeated(characters(ranges_of("0-9")), 0, kMostWholeDigits - 1);
        return sequence({optional(literal("-")),
                         choice({literal("0"), sequence({characters(ranges_of("1-9")), digits})})});
    });
}

NodeId JsonRules::number() {
    return shared(number_, [&] {
        const NodeId digit = characters(ranges_of("0-9"));
        const NodeId sign = characters(ranges_of("+-"));
        const NodeId fraction = sequence({literal("."), repeated(digit, 1, kMostFractionDigits)});
        const NodeId exponent =
            sequence({characters(ranges_of("eE")), optional(sign), repeated(digit, 1, 2)});
        return sequence({integer(), optional(fraction), optional(exponent)});
    });
}

NodeId JsonRules::value() {
    return shared(value_, [&] {
        return choice(
            {object(), array(), string(), number(), literal("true"), literal("false"), literal("null")});
    });
}

NodeId JsonRules::object() {
    return shared(object_, [&] {
        const NodeId member = sequence({string(), literal(":"), blanks(), value()});
        const NodeId more = sequence({literal(","), blanks(), member});
        const NodeId members = sequence({member, repeated(more, 0, std::nullopt), blanks()});
        return sequence({literal("{"), blanks(), optional(members), literal("}")});
    });
}

NodeId JsonRules::array() {
    return shared(array_, [&] { return list({}, value(), 0, std::nullopt); });
}

NodeId JsonRules::key(std::string_view text) {
    return sequence({literal(json_string(text) + ":"), blanks()});
}

NodeId JsonRules::list(std::span<const NodeId> items, std::optional<NodeId> rest, int64_t least,
                       std::optional<int64_t> most) {
    const auto count = static_cast<int64_t>(items.size());
    const auto next = [&](NodeId item) { return sequence({literal(","), blanks(), item}); };
    std::vector<NodeId> parts = {literal("["), blanks()};
    if (count > 0) {
        parts.push_back(items.front());
        for (const NodeId item : items.subspan(1)) parts.push_back(next(item));
        if (rest)
            parts.push_back(repeated(next(*rest), std::max<int64_t>(0, least - count),
                                     most ? std::optional(*most - count) : std::nullopt));
        parts.push_back(blanks());
    } else if (rest && most.value_or(1) > 0) {
        const NodeId more = repeated(next(*rest), std::max<int64_t>(0, least - 1),
                                     most ? std::optional(*most - 1) : std::nullopt);
        const NodeId all = sequence({*rest, more, blanks()});
        parts.push_back(least > 0 ? all : optional(all));
    }
    parts.push_back(literal("]"));
    return sequence(std::move(parts));
}

NodeId JsonRules::network(const TextAutomaton& texts, bool in_string) {
    Network network;
    for (const TextAutomaton::State& state : texts.states) {
        std::map<uint32_t, std::vector<CodePointRange>> ranges;  // all that lead to one state are one part
        for (const TextAutomaton::Edge& edge : state.edges) ranges[edge.target].push_back(edge.characters);
        Network::State& made = network.states.emplace_back();
        made.is_final = state.is_final;
        for (const auto& [target, each] : ranges)
            made.edges.push_back({in_string ? spelled(each) : characters(each), target});
    }
    return add(std::move(network));
}

NodeId JsonRules::spelled(const std::vector<CodePointRange>& ranges) {
    const auto known = spelled_.find(ranges);
    if (known != spelled_.end()) return known->second;
    const std::vector<CodePointRange> others = complement(ranges);
    std::vector<CodePointRange> plain = {{0, 0x1f}, {'"', '"'}, {'\\', '\\'}};
    std::vector<NodeId> ways;
    for (const CodePointRange& special : std::vector(plain))
        for (char32_t c = special.first; c <= special.last; ++c)
            if (std::none_of(others.begin(), others.end(), [&](const CodePointRange& range) {
                    return range.first <= c && c <= range.last;
                }))
                ways.push_back(literal(escaped(c)));
    plain.insert(plain.end(), others.begin(), others.end());
    ways.push_back(characters(complement(plain)));
    const NodeId node = choice(std::move(ways));
    spelled_.emplace(ranges, node);
    return node;
}

NodeId JsonRules::string_of(const TextAutomaton& texts) {
    return sequence({literal("\""), network(texts, true), literal("\"")});
}

NodeId JsonRules::bare(const TextAutomaton& texts) {
    return network(texts, false);
}

RuleSet JsonRules::take(NodeId root) {
    rules_.root = declare("root", rules_.where);
    define(rules_.root, root);
    return std::move(rules_);
}

}  // namespace tessera::grammar
