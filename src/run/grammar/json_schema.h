#pragma once

#include <string>
#include <string_view>

#include "run/grammar/limits.h"
#include "run/grammar/rule_set.h"
#include "run/grammar/schema_value.h"

namespace tessera::grammar {

/// The grammar of JSON texts that a schema allows (JSON Schema 2020-12, and `definitions` of older ones).
/// Every text of the grammar is valid; not every valid text is one of the grammar's:
///
/// - members come in the order of `properties`, then those that `required` alone names, then others. Others
///   come only where `additionalProperties` or `patternProperties` is given, or no property is;
/// - all of `prefixItems` come, and items after them only where `items` is given;
/// - without `type` the keywords decide: `minLength` alone is a string;
/// - blanks and digits are as in JsonRules, and texts of `const`, `enum`, patterns and formats have one
/// spelling.
///
/// A keyword that a grammar does not follow is refused (schema_keywords.h), and so is a `oneOf` of which two
/// branches may hold at once.
/// @throws Error with the place in the schema, and what to do
RuleSet schema_rules(const SchemaValue& schema, const std::string& where, const Limits& limits = {});
/// The same from JSON.
RuleSet parse_schema(std::string_view text, const std::string& where, const Limits& limits = {});
/// Any object.
RuleSet json_object_rules();

}  // namespace tessera::grammar
