#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/grammar/limits.h"
#include "run/grammar/rule_set.h"
#include "run/grammar/text_automaton.h"

namespace tessera::grammar {

/// The parts of JSON, as rules of a grammar. Blanks are few, so that a model cannot write them for ever:
/// after
/// `{ [ , :` and before `} ]` comes nothing, a space, or a line break with up to 40 blanks. Numbers have up
/// to 16 digits before the point and 20 behind it, and exponents two.
class JsonRules {
public:
    JsonRules(const std::string& where, const Limits& limits);

    NodeId literal(std::string_view bytes) { return add(Literal{std::string(bytes)}); }
    NodeId characters(const std::vector<CodePointRange>& ranges);
    NodeId sequence(std::vector<NodeId> parts);
    NodeId choice(std::vector<NodeId> parts);  ///< the only one, or one of them
    NodeId repeated(NodeId part, int64_t least, std::optional<int64_t> most);
    NodeId optional(NodeId part) { return repeated(part, 0, 1); }

    /// A rule that has no body yet: it may be called before it is defined.
    RuleId declare(std::string name, std::string where);
    void define(RuleId rule, NodeId body) { rules_.rules[rule].body = body; }
    NodeId call(RuleId rule) { return add(Reference{rule}); }

    NodeId blanks();
    NodeId string();
    NodeId string(int64_t least, std::optional<int64_t> most);  ///< so many characters
    NodeId number();
    NodeId integer();
    NodeId value();                                     ///< anything
    NodeId object();                                    ///< with any members
    NodeId array();                                     ///< of anything
    NodeId nothing() { return add(CharacterClass{}); }  ///< no text at all
    /// A string of these texts. Each has one spelling: only what has to be escaped is.
    NodeId string_of(const TextAutomaton& texts);
    /// These texts as they are.
    NodeId bare(const TextAutomaton& texts);
    /// `"text":` and blanks
    NodeId key(std::string_view text);
    /// `[` items `]`. `rest`: of all items behind the given ones, that many of them.
    NodeId list(std::span<const NodeId> items, std::optional<NodeId> rest, int64_t least,
                std::optional<int64_t> most);

    const RuleSet& rules() const { return rules_; }
    RuleSet take(NodeId root);

private:
    /// A rule that is made when it is first wanted.
    struct Shared {
        const char* name;
        std::optional<RuleId> rule = {};
    };
    template <typename Make>
    NodeId shared(Shared& rule, Make&& make);
    NodeId add(Node node);
    NodeId character();
    NodeId network(const TextAutomaton& texts, bool in_string);
    NodeId spelled(const std::vector<CodePointRange>& ranges);
    NodeId hexadecimal(std::string_view first, std::string_view second);

    RuleSet rules_;
    Limits limits_;
    Shared blanks_{"blanks"}, string_{"string"}, number_{"number"}, integer_{"integer"}, value_{"value"},
        object_{"object"}, array_{"array"}, character_rule_{"character"};
    std::optional<NodeId> character_;
    std::map<std::pair<int64_t, std::optional<int64_t>>, RuleId>
        long_strings_;  ///< by least and most characters
    std::map<std::vector<CodePointRange>, NodeId> spelled_;
};

}  // namespace tessera::grammar
