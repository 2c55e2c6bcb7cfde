#include "run/grammar/json_schema.h"

#include "run/grammar/schema_reader.h"

namespace tessera::grammar {

RuleSet schema_rules(const SchemaValue& schema, const std::string& where, const Limits& limits) {
    return SchemaReader(schema, where, limits).read();
}

RuleSet parse_schema(std::string_view text, const std::string& where, const Limits& limits) {
    return schema_rules(parse_schema_value(text, where), where, limits);
}

RuleSet json_object_rules() {
    JsonRules rules("json_object", {});
    const NodeId object = rules.object();
    return rules.take(object);
}

}  // namespace tessera::grammar
