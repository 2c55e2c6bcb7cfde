#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "run/grammar/json_rules.h"
#include "run/grammar/member_rules.h"
#include "run/grammar/number_texts.h"
#include "run/grammar/schema_value.h"

namespace tessera::grammar {

/// Makes rules from a schema: see json_schema.h.
class SchemaReader {
public:
    SchemaReader(const SchemaValue& root, std::string where, const Limits& limits)
        : root_(root), where_(std::move(where)), rules_(where_, limits) {}

    RuleSet read() &&;
    MemberRules read_members(const BareTexts& bare) &&;

private:
    using Schemas = std::vector<const SchemaValue*>;
    /// Schemas that must all hold, in the order in which they were met.
    struct Conjunction {
        Schemas all;
        Schemas taken;  ///< lists of `anyOf` and `oneOf` of which `all` has a branch
        auto operator<=>(const Conjunction&) const = default;
    };
    /// A conjunction without references.
    struct Flat {
        Schemas leaves;  ///< only their own keywords count, not those that combine
        Schemas lists;   ///< of `anyOf` and `oneOf`; a branch of each must hold, too
        bool allows_nothing = false;
    };
    struct GivenMember {
        std::string name;
        bool is_required = false;
        std::optional<Conjunction> content;  ///< none: it must not be there
    };
    struct Member {
        NodeId text;
        bool is_required;
    };
    /// The allowed numbers of members of an object.
    struct MemberCounts {
        int64_t least = 0;
        std::optional<int64_t> most = {};
    };

    // schema_reader.cpp: references and combinations
    void define_open();
    NodeId value(const SchemaValue& schema);
    NodeId value(const Conjunction& conjunction);
    /// By a rule, if there are several.
    NodeId joined(const Conjunction& conjunction);
    NodeId rule_of(const Conjunction& conjunction, const std::string& name);
    Flat flatten(const Conjunction& conjunction);
    void meet(const SchemaValue& schema, const Conjunction& within, Flat& flat, Schemas& next);
    NodeId branches(const Conjunction& conjunction, const Flat& flat);
    NodeId leaf(const Schemas& leaves);
    std::set<std::string> types(const Schemas& leaves) const;
    NodeId of_type(const Schemas& leaves, std::string_view type);
    bool says_something(const SchemaValue& schema, const Schemas& taken) const;
    const SchemaValue& target(const SchemaValue& schema) const;
    const SchemaValue& resolved(const SchemaValue& schema);

    // schema_fixed.cpp: listed values
    NodeId fixed(const Schemas& leaves, const SchemaValue& listing);
    NodeId literal(const SchemaValue& value);
    bool is_valid(const SchemaValue& value, const SchemaValue& schema);
    bool is_valid_number(const SchemaValue& value, const SchemaValue& schema);
    bool is_valid_string(const SchemaValue& value, const SchemaValue& schema);
    bool is_valid_list(const SchemaValue& value, const SchemaValue& schema);
    bool is_valid_object(const SchemaValue& value, const SchemaValue& schema);

    // schema_scalars.cpp
    NodeId string(const Schemas& leaves);
    std::optional<TextAutomaton> pattern_texts(const Schemas& leaves);
    /// All texts that strings of the schemas may have.
    TextAutomaton string_texts(const Schemas& leaves);
    const TextAutomaton& matching(const std::string& pattern, const SchemaValue& at);
    const TextAutomaton* formatted(const SchemaValue& format);
    std::optional<TextAutomaton> limited(TextAutomaton texts, int64_t least, std::optional<int64_t> most);
    NodeId number(const Schemas& leaves, bool are_whole);
    /// @return true if the schema restricts numbers
    bool narrow(NumberTexts& wanted, const SchemaValue& schema, bool are_whole) const;

    // schema_array.cpp
    NodeId array(const Schemas& leaves);

    // schema_object.cpp, schema_members.cpp
    NodeId object(const Schemas& leaves);
    /// In order: those of `properties`, then those that are only required.
    std::vector<GivenMember> given_members(const Schemas& leaves);
    /// The rules of the schemas for a member of this name; none: it must not be there.
    std::optional<Conjunction> member(const Schemas& leaves, const std::string& name);
    bool join_member(const SchemaValue& schema, const std::string& name, Schemas& all);
    std::vector<NodeId> other_members(const Schemas& leaves, const std::vector<std::string>& names);
    std::optional<TextAutomaton> name_texts(const Schemas& leaves, const std::vector<std::string>& names);
    NodeId between_braces(const std::vector<Member>& members, std::optional<NodeId> other,
                          MemberCounts counts, const std::string& place);

    // member_rules.cpp
    /// A rule of the values that have one of these types, too.
    RuleId narrowed(const Conjunction& content, const SchemaValue& types);
    NodeId bare_string(const Schemas& leaves, const TextAutomaton& allowed);
    void expect_given_alone(const Flat& flat, const std::vector<GivenMember>& given);

    /// Counts the work of combinations, patterns, formats and ranges. @throws Error beyond the limit
    void spend(const SchemaValue& at, size_t work);
    std::optional<int64_t> count(const SchemaValue& schema, const char* keyword, bool is_most) const;
    std::pair<int64_t, std::optional<int64_t>> counts(const Schemas& leaves, const char* least,
                                                      const char* most) const;
    /// No value is left: a fault if it is by a single schema; with several, other branches may be left.
    NodeId nothing(const Schemas& leaves, const SchemaValue& at, const std::string& problem,
                   const std::string& advice = {});
    [[noreturn]] void fail(const SchemaValue& at, std::string problem, std::string advice = {}) const;
    const SchemaValue& expect(const SchemaValue& value, SchemaValue::Kind kind, const char* expected) const;

    const SchemaValue& root_;
    std::string where_;
    JsonRules rules_;
    std::map<Conjunction, RuleId> rule_numbers_;
    std::vector<Conjunction> open_;  ///< those whose rule has no body yet
    int64_t work_ = 10'000'000;      ///< that is left: see spend
    int checked_inside_ = 0;         ///< schemas that a value is being checked by
    std::map<const SchemaValue*, const SchemaValue*> resolved_;
    std::map<std::string, TextAutomaton> patterns_;
    /// By texts, least and most characters.
    std::map<std::tuple<TextAutomaton, int64_t, std::optional<int64_t>>, RuleId> string_rules_;
    /// The texts of bare strings, by the schema that makes strings bare where it joins others.
    std::map<const SchemaValue*, TextAutomaton> bare_;
    std::map<std::string, SchemaValue> absent_;  ///< schemas that forbid a member
};

}  // namespace tessera::grammar
