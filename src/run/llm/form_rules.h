#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "run/grammar/member_rules.h"
#include "run/grammar/rule_set.h"
#include "run/llm/tokenizer.h"
#include "run/llm/tool_form.h"
#include "tessera/tools.h"

namespace tessera::llm {

/// The parts of which the grammar of an answer is made.
class FormRules {
public:
    explicit FormRules(const Tokenizer& tokenizer);

    bool is_special(std::string_view text) const { return special_.contains(std::string(text)); }
    /// A fixed text of a form: special tokens that it spells are these tokens, kIdCharacter is any letter or
    /// digit.
    grammar::NodeId text(std::string_view fixed);
    grammar::NodeId text_of(const std::vector<std::string>& ways);  ///< one of them
    grammar::NodeId any_text();
    /// Some white space, or none.
    grammar::NodeId blanks();
    grammar::NodeId sequence(std::vector<grammar::NodeId> parts);
    grammar::NodeId choice(std::vector<grammar::NodeId> parts);
    grammar::NodeId repeated(grammar::NodeId part, int64_t least, std::optional<int64_t> most);
    /// By a rule, whose masks are computed once.
    grammar::NodeId rule(std::string name, grammar::NodeId body);
    /// The arguments of a function: a JSON object of its schema.
    /// @throws Error for a schema that is wrong, of no object, or not followed
    grammar::NodeId arguments(const Tool& tool);
    /// The same, as members in tags. `kinds`: of the members.
    grammar::NodeId members(const Tool& tool, const MemberTags& tags,
                            std::map<std::string, MemberKind>& kinds);

    grammar::RuleSet& rules() { return rules_; }
    grammar::RuleSet take(grammar::NodeId root);

private:
    std::string_view leading_token(std::string_view text) const;
    grammar::NodeId member(const grammar::MemberRules::Member& member, const MemberTags& tags,
                           grammar::RuleId first);

    std::set<std::string> special_;
    grammar::RuleSet rules_;
};

}  // namespace tessera::llm
