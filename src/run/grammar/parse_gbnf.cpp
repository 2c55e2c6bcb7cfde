#include "run/grammar/parse_gbnf.h"

#include <map>
#include <utility>
#include <vector>

#include "run/grammar/character_ranges.h"
#include "run/grammar/gbnf_scanner.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

class GbnfParser {
public:
    GbnfParser(std::string_view text, const std::string& where, const Limits& limits)
        : scanner_(text, where), limits_(limits) {
        rules_.where = where;
    }

    RuleSet parse() && {
        scanner_.skip_blanks(true);
        while (!scanner_.at_end()) {
            rule();
            scanner_.skip_blanks(true);
        }
        const auto root = ids_.find("root");
        if (root == ids_.end() || !is_defined_[root->second])
            throw Error(rules_.where, "root", "is not defined",
                        "a grammar begins at the rule root: root ::= ...");
        for (size_t i = 0; i < is_defined_.size(); ++i)
            if (!is_defined_[i])
                throw Error(rules_.rules[i].where, rules_.rules[i].name, "is used, but not defined",
                            fmt::format("write a rule: {} ::= ...", rules_.rules[i].name));
        rules_.root = root->second;
        return std::move(rules_);
    }

private:
    RuleId id_of(const std::string& name, size_t offset) {
        const auto [found, is_new] = ids_.try_emplace(name, static_cast<RuleId>(rules_.rules.size()));
        if (is_new) {
            rules_.rules.push_back({name, 0, scanner_.place(offset)});
            is_defined_.push_back(false);
        }
        return found->second;
    }

    NodeId add(Node node) {
        if (rules_.nodes.size() >= limits_.nodes)
            scanner_.fail(scanner_.offset(),
                          fmt::format("the grammar has more than {} parts", limits_.nodes));
        return rules_.add(std::move(node));
    }

    void rule() {
        const size_t begin = scanner_.offset();
        const std::string name = scanner_.name();
        const RuleId id = id_of(name, begin);
        if (is_defined_[id]) scanner_.fail(begin, fmt::format("the rule {} is defined twice", name));
        scanner_.skip_blanks(false);
        scanner_.expect("::=", "after the name of a rule");
        scanner_.skip_blanks(true);
        const NodeId body = choice(false, 0);
        if (!scanner_.at_end() && scanner_.peek() != '\n' && scanner_.peek() != '\r')
            scanner_.fail(scanner_.offset(), fmt::format("unexpected {} in a rule", scanner_.shown_here()));
        rules_.rules[id].body = body;
        rules_.rules[id].where = scanner_.place(begin);
        is_defined_[id] = true;
    }

    /// `is_inside`: of parentheses, where line breaks are blanks.
    NodeId choice(bool is_inside, int depth) {
        std::vector<NodeId> parts = {sequence(is_inside, depth)};
        while (true) {
            if (!is_inside) scanner_.skip_to_bar();
            if (!scanner_.take("|")) break;
            scanner_.skip_blanks(true);
            parts.push_back(sequence(is_inside, depth));
        }
        return parts.size() == 1 ? parts.front() : add(Choice{std::move(parts)});
    }

    NodeId sequence(bool is_inside, int depth) {
        std::vector<NodeId> parts;
        while (const auto part = symbol(depth)) {
            parts.push_back(*part);
            scanner_.skip_blanks(is_inside);
            if (repeats(parts.back())) scanner_.skip_blanks(is_inside);
            for (const char sign : {'*', '+', '?', '{'})
                if (scanner_.peek() == sign)
                    scanner_.fail(scanner_.offset(),
                                  fmt::format("`{}` repeats what is repeated already", sign),
                                  "put parentheses around it");
        }
        if (parts.empty()) return add(Literal{});
        return parts.size() == 1 ? parts.front() : add(Sequence{std::move(parts)});
    }

    /// Nothing where the sequence ends.
    std::optional<NodeId> symbol(int depth) {
        const size_t begin = scanner_.offset();
        if (scanner_.take("\"")) return literal();
        if (scanner_.take("[")) return character_class();
        if (scanner_.take(".")) return add(CharacterClass{complement({})});
        if (scanner_.take("(")) {
            if (depth == limits_.depth)
                scanner_.fail(begin, fmt::format("more than {} groups inside each other", limits_.depth));
            scanner_.skip_blanks(true);
            const NodeId inner = choice(true, depth + 1);
            scanner_.expect(")", fmt::format("for the `(` at {}", scanner_.place(begin)));
            return inner;
        }
        if (scanner_.sees_name()) return add(Reference{id_of(scanner_.name(), begin)});
        for (const char* sign : {"*", "+", "?", "{"})
            if (scanner_.sees(sign)) scanner_.fail(begin, fmt::format("`{}` repeats nothing", sign));
        for (const char* sign : {"<", "!<"})
            if (scanner_.sees(sign))
                scanner_.fail(begin, "tokens in a grammar are not supported",
                              "write their text as a literal");
        return std::nullopt;
    }

    NodeId literal() {
        std::string bytes;
        while (!scanner_.take("\"")) append_utf8(bytes, scanner_.character('"'));
        return add(Literal{std::move(bytes)});
    }

    NodeId character_class() {
        const bool is_negated = scanner_.take("^");
        std::vector<CodePointRange> ranges;
        while (!scanner_.take("]")) {
            const size_t begin = scanner_.offset();
            const char32_t first = scanner_.character(']');
            char32_t last = first;
            if (scanner_.sees("-") && !scanner_.sees("-]")) {
                scanner_.take("-");
                last = scanner_.character(']');
            }
            if (last < first) scanner_.fail(begin, "the range ends before it begins");
            ranges.push_back({first, last});
        }
        return add(CharacterClass{is_negated ? complement(ranges) : normalized(ranges)});
    }

    /// Reads a count behind a part, which it replaces.
    bool repeats(NodeId& part) {
        const size_t begin = scanner_.offset();
        Repetition repetition{.part = part};
        if (scanner_.take("*")) {
        } else if (scanner_.take("+")) {
            repetition.least = 1;
        } else if (scanner_.take("?")) {
            repetition.most = 1;
        } else if (scanner_.take("{")) {
            scanner_.skip_blanks(false);
            repetition.least = scanner_.number(limits_.repetitions);
            scanner_.skip_blanks(false);
            if (!scanner_.take(",")) {
                repetition.most = repetition.least;
            } else {
                scanner_.skip_blanks(false);
                if (!scanner_.sees("}")) repetition.most = scanner_.number(limits_.repetitions);
                scanner_.skip_blanks(false);
            }
            scanner_.expect("}", "after a count");
            if (repetition.most.value_or(repetition.least) < repetition.least)
                scanner_.fail(begin, "the largest count is below the smallest");
        } else {
            return false;
        }
        part = add(repetition);
        return true;
    }

    GbnfScanner scanner_;
    const Limits& limits_;
    RuleSet rules_;
    std::map<std::string, RuleId> ids_;
    std::vector<bool> is_defined_;
};

}  // namespace

RuleSet parse_gbnf(std::string_view text, const std::string& where, const Limits& limits) {
    if (text.size() > limits.text_bytes)
        throw Error(
            where, "",
            fmt::format("the grammar has {} bytes, at most {} are read", text.size(), limits.text_bytes));
    return GbnfParser(text, where, limits).parse();
}

}  // namespace tessera::grammar
