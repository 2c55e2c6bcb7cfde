#include <algorithm>

#include "grammar/schema_reader.h"
#include "support/error.h"
#include "support/shown.h"

// Members come in order, and a comma only between two of them. With the members a, b? and c?
//
//     { a more-b }       more-b ::= ("," b)? more-c       more-c ::= ("," c)? others
//
// and where optional ones come first, a way for each member that may be the first:
//
//     { b more-c | c others | }

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

}  // namespace

std::vector<SchemaReader::Member> SchemaReader::members(const SchemaValue& schema, const SchemaValue* others,
                                                        std::vector<std::string>& names) {
    std::vector<const SchemaValue*> values;
    if (const SchemaValue* properties = schema.find("properties")) {
        names = expect(*properties, Kind::kObject, "an object of schemas").keys;
        for (const SchemaValue& item : properties->items) values.push_back(&item);
    }
    std::set<std::string> known(names.begin(), names.end());
    std::set<std::string> required;
    if (const SchemaValue* list = schema.find("required"))
        for (const SchemaValue& item : expect(*list, Kind::kList, "a list of names").items) {
            required.insert(expect(item, Kind::kText, "a name").text);
            if (!known.insert(item.text).second) continue;
            if (others != nullptr && others->is_false())
                fail(item, "is required, but neither a property nor allowed as another one");
            names.push_back(item.text);
            values.push_back(others);
        }
    std::vector<Member> result;
    for (size_t i = 0; i < names.size(); ++i) {
        const bool is_required = required.contains(names[i]);
        // A property that can have no value may only be left out.
        if (values[i] != nullptr && values[i]->is_false() && !is_required) continue;
        const NodeId content = values[i] == nullptr ? rules_.value() : value(*values[i]);
        result.push_back({rules_.sequence({rules_.key(names[i]), content}), is_required});
    }
    return result;
}

NodeId SchemaReader::object(const SchemaValue& schema) {
    const SchemaValue* others = schema.find("additionalProperties");
    std::vector<std::string> names;
    const std::vector<Member> all = members(schema, others, names);
    const bool has_others = others != nullptr ? !others->is_false() : schema.find("properties") == nullptr;
    if (names.empty() && has_others && (others == nullptr || others->is_true())) return rules_.object();
    std::optional<NodeId> other;
    if (has_others) {
        const NodeId name = names.empty() ? rules_.string() : rules_.other_string(names, schema.place);
        const NodeId content = others == nullptr ? rules_.value() : value(*others);
        const RuleId rule = rules_.declare("other-member", where_);
        rules_.define(rule, rules_.sequence({name, rules_.literal(":"), rules_.blanks(), content}));
        other = rules_.call(rule);
    }
    return between_braces(all, other, schema.place);
}

NodeId SchemaReader::between_braces(const std::vector<Member>& members, std::optional<NodeId> other,
                                    const std::string& place) {
    const auto after_comma = [&](NodeId member) {
        return rules_.sequence({rules_.literal(","), rules_.blanks(), member});
    };
    // From behind: what may follow a member.
    NodeId more = other ? rules_.repeated(after_comma(*other), 0, std::nullopt) : rules_.literal("");
    std::vector<NodeId> ways;
    if (other) ways.push_back(rules_.sequence({*other, more}));
    bool may_be_empty = true;
    for (size_t i = members.size(); i-- > 0;) {
        const Member& member = members[i];
        const RuleId rest = rules_.declare(place.empty() ? "members" : place, where_);
        rules_.define(rest, more);
        if (member.is_required) ways.clear();
        may_be_empty = may_be_empty && !member.is_required;
        ways.push_back(rules_.sequence({member.text, rules_.call(rest)}));
        const NodeId here = after_comma(member.text);
        more = rules_.sequence({member.is_required ? here : rules_.optional(here), rules_.call(rest)});
    }
    std::vector<NodeId> parts = {rules_.literal("{"), rules_.blanks()};
    if (!ways.empty()) {
        const NodeId filled = rules_.sequence({rules_.choice(std::move(ways)), rules_.blanks()});
        parts.push_back(may_be_empty ? rules_.optional(filled) : filled);
    }
    parts.push_back(rules_.literal("}"));
    return rules_.sequence(std::move(parts));
}

}  // namespace tessera::grammar
