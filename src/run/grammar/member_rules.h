#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/grammar/limits.h"
#include "run/grammar/rule_set.h"
#include "run/grammar/schema_value.h"

namespace tessera::grammar {

/// Strings without quotes.
struct BareTexts {
    std::string mark;             ///< ends a string, and is in none
    bool are_told_apart = false;  ///< the notation says whether a value is a string
};

/// The members of an object that a schema gives by name, and that may have a value, for notations that write
/// them otherwise than JSON:
///
///     {"city": "Paris", "days": 3}     <city>Paris</city><days>3</days>
struct MemberRules {
    struct Member {
        std::string name;
        bool is_required = false;
        std::optional<RuleId> text;  ///< of its strings, bare; none: it is no string
        std::optional<RuleId> json;  ///< of its other values
    };
    RuleSet rules;
    std::vector<Member> members;  ///< in the order of the schema
};

/// A text that looks like JSON is no string of a member that may be both, if the notation does not tell a
/// string from another value.
/// @throws Error as schema_rules, and for objects of other members than those that are given by name
MemberRules member_rules(const SchemaValue& schema, const std::string& where, const BareTexts& bare,
                         const Limits& limits = {});

/// True for a text that is the value, not a string, of a member that may be both.
bool looks_like_json(std::string_view text);

}  // namespace tessera::grammar
