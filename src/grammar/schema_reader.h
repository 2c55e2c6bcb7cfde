#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/json_rules.h"
#include "grammar/schema_value.h"

namespace tessera::grammar {

/// Makes rules of a schema: see json_schema.h.
class SchemaReader {
public:
    SchemaReader(const SchemaValue& root, std::string where, const Limits& limits)
        : root_(root), where_(std::move(where)), rules_(where_, limits) {}

    RuleSet read() &&;

private:
    /// A value that the schema allows.
    NodeId value(const SchemaValue& schema);
    NodeId reference(const SchemaValue& schema);
    /// A call of the rule of a schema, which is made when it is first wanted.
    NodeId rule_of(const SchemaValue& schema, const std::string& name);
    NodeId branches(const SchemaValue& list, bool only_one);
    NodeId fixed(const SchemaValue& schema);
    NodeId literal(const SchemaValue& value);
    NodeId of_type(const SchemaValue& schema, std::string_view type);
    NodeId string(const SchemaValue& schema);
    NodeId integer(const SchemaValue& schema);
    NodeId array(const SchemaValue& schema);

    // schema_object.cpp
    struct Member {
        NodeId text;
        bool is_required;
    };
    NodeId object(const SchemaValue& schema);
    std::vector<Member> members(const SchemaValue& schema, const SchemaValue* others,
                                std::vector<std::string>& names);
    NodeId between_braces(const std::vector<Member>& members, std::optional<NodeId> other,
                          const std::string& place);

    const SchemaValue& target(const SchemaValue& schema) const;
    std::set<std::string> types(const SchemaValue& schema) const;
    /// Refuses keywords that would be ignored.
    void refuse_unknown(const SchemaValue& schema) const;
    void expect_alone(const SchemaValue& schema, std::string_view keyword, bool allows_type) const;
    std::optional<int64_t> count(const SchemaValue& schema, const char* keyword) const;
    /// Of `minimum` and its kind: the nearest integer inside.
    std::optional<int64_t> bound(const SchemaValue& schema, const char* keyword, bool is_low,
                                 bool is_exclusive) const;
    [[noreturn]] void fail(const SchemaValue& at, std::string problem, std::string advice = {}) const;
    const SchemaValue& expect(const SchemaValue& value, SchemaValue::Kind kind, const char* expected) const;

    const SchemaValue& root_;
    std::string where_;
    JsonRules rules_;
    std::map<const SchemaValue*, RuleId> referred_;  ///< rules of the whole, and of targets of references
    std::vector<const SchemaValue*> open_;           ///< those whose rule has no body yet
};

}  // namespace tessera::grammar
