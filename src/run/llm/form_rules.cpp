#include "run/llm/form_rules.h"

#include <algorithm>
#include <utility>

#include "run/grammar/character_ranges.h"
#include "run/grammar/json_schema.h"
#include "run/grammar/merge_rules.h"
#include "run/grammar/special_token.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::llm {
namespace {

using grammar::NodeId;
using grammar::SchemaValue;

constexpr int64_t kMostBlanks = 8;
constexpr const char* kNoArguments = R"({"type": "object", "additionalProperties": false})";

/// Arguments are an object, also where the schema does not say so.
void expect_object(SchemaValue& schema) {
    const auto is_object = [](const SchemaValue& type) { return type.text == "object"; };
    if (!schema.is(SchemaValue::Kind::kObject))
        throw Error("", "", "is no JSON object", "write a JSON schema");
    for (size_t i = 0; i < schema.keys.size(); ++i) {
        SchemaValue& type = schema.items[i];
        if (schema.keys[i] != "type") continue;
        if (!is_object(type) && std::none_of(type.items.begin(), type.items.end(), is_object))
            throw Error("", "type", fmt::format("is {}, expected \"object\"", shown(type.json())),
                        "arguments are the members of an object");
        type = {.kind = SchemaValue::Kind::kText, .text = "object", .items = {}, .keys = {}, .place = "type"};
        return;
    }
    schema.keys.emplace_back("type");
    schema.items.push_back(
        {.kind = SchemaValue::Kind::kText, .text = "object", .items = {}, .keys = {}, .place = "type"});
}

/// Calls `make` with the schema of a function's arguments; errors name the function.
template <typename Make>
NodeId by_schema(const Tool& tool, Make&& make) {
    const std::string place = tool.name + ".parameters";
    try {
        SchemaValue schema =
            grammar::parse_schema_value(tool.parameters.empty() ? kNoArguments : tool.parameters, place);
        expect_object(schema);
        return make(schema, place);
    } catch (const Error& error) {
        throw Error("tools", error.entity.empty() ? place : place + "." + error.entity, error.problem,
                    error.advice, ErrorKind::kUsage);
    }
}

}  // namespace

FormRules::FormRules(const Tokenizer& tokenizer) {
    rules_.where = "tools";
    for (const AddedToken& token : tokenizer.added_tokens())
        if (token.special) special_.insert(tokenizer.token_bytes(token.id));
    special_.erase("");
}

std::string_view FormRules::leading_token(std::string_view text) const {
    size_t longest = 0;
    for (const std::string& token : special_)
        if (text.starts_with(token)) longest = std::max(longest, token.size());
    return text.substr(0, longest);
}

NodeId FormRules::text(std::string_view fixed) {
    std::vector<NodeId> parts;
    std::string plain;
    const auto end_plain = [&] {
        if (!plain.empty()) parts.push_back(rules_.add(grammar::Literal{std::exchange(plain, {})}));
    };
    while (!fixed.empty()) {
        size_t size = 1;
        if (fixed[0] == kIdCharacter) {
            end_plain();
            parts.push_back(rules_.add(
                grammar::CharacterClass{grammar::normalized({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}})}));
        } else if (const std::string_view token = leading_token(fixed); !token.empty()) {
            end_plain();
            parts.push_back(rules_.add(grammar::Literal{grammar::special_token(token)}));
            size = token.size();
        } else {
            plain += fixed[0];
        }
        fixed.remove_prefix(size);
    }
    end_plain();
    return sequence(std::move(parts));
}

NodeId FormRules::text_of(const std::vector<std::string>& ways) {
    std::vector<NodeId> parts;
    for (const std::string& way : ways) parts.push_back(text(way));
    return choice(std::move(parts));
}

NodeId FormRules::any_text() {
    return repeated(rules_.add(grammar::CharacterClass{grammar::complement({})}), 0, std::nullopt);
}

NodeId FormRules::blanks() {
    const NodeId blank = rules_.add(
        grammar::CharacterClass{grammar::normalized({{' ', ' '}, {'\n', '\n'}, {'\r', '\r'}, {'\t', '\t'}})});
    return repeated(blank, 0, kMostBlanks);
}

NodeId FormRules::sequence(std::vector<NodeId> parts) {
    if (parts.empty()) return rules_.add(grammar::Literal{});
    return parts.size() == 1 ? parts.front() : rules_.add(grammar::Sequence{std::move(parts)});
}

NodeId FormRules::choice(std::vector<NodeId> parts) {
    return parts.size() == 1 ? parts.front() : rules_.add(grammar::Choice{std::move(parts)});
}

NodeId FormRules::repeated(NodeId part, int64_t least, std::optional<int64_t> most) {
    return rules_.add(grammar::Repetition{part, least, most});
}

NodeId FormRules::rule(std::string name, NodeId body) {
    rules_.rules.push_back({std::move(name), body, rules_.where});
    return rules_.add(grammar::Reference{static_cast<grammar::RuleId>(rules_.rules.size() - 1)});
}

NodeId FormRules::arguments(const Tool& tool) {
    return by_schema(tool, [&](const SchemaValue& schema, const std::string& place) {
        return rules_.add(
            grammar::Reference{grammar::merge_rules(rules_, grammar::schema_rules(schema, place))});
    });
}

NodeId FormRules::member(const grammar::MemberRules::Member& member, const MemberTags& tags,
                         grammar::RuleId first) {
    std::vector<NodeId> ways;
    const auto add = [&](const std::string& before, std::optional<grammar::RuleId> value) {
        if (!value) return;
        if ((member.name + before).find(before) != member.name.size())
            throw Error("", "properties", fmt::format("have the name {}", shown(member.name)),
                        fmt::format("write a name without {}", shown(before)));
        ways.push_back(sequence({text(before), rules_.add(grammar::Reference{first + *value})}));
    };
    add(tags.before_text, member.text);
    add(tags.before_json, member.json);
    const NodeId one = sequence({text(tags.open + member.name), choice(std::move(ways)), text(tags.end)});
    return member.is_required ? one : repeated(one, 0, 1);
}

NodeId FormRules::members(const Tool& tool, const MemberTags& tags,
                          std::map<std::string, MemberKind>& kinds) {
    return by_schema(tool, [&](const SchemaValue& schema, const std::string& place) {
        grammar::MemberRules made = grammar::member_rules(
            schema, place, {.mark = std::string(tags.mark()), .are_told_apart = tags.tells_strings()});
        const auto first = static_cast<grammar::RuleId>(rules_.rules.size());
        (void)grammar::merge_rules(rules_, std::move(made.rules));
        std::vector<NodeId> parts;
        for (const grammar::MemberRules::Member& one : made.members) {
            kinds[one.name] = !one.json  ? MemberKind::kText
                              : one.text ? MemberKind::kEither
                                         : MemberKind::kJson;
            parts.push_back(member(one, tags, first));
        }
        return sequence(std::move(parts));
    });
}

grammar::RuleSet FormRules::take(NodeId root) {
    rules_.rules.push_back({"answer", root, rules_.where});
    rules_.root = static_cast<grammar::RuleId>(rules_.rules.size() - 1);
    return std::move(rules_);
}

}  // namespace tessera::llm
