#include <algorithm>

#include "run/grammar/schema_branches.h"
#include "run/grammar/schema_reader.h"
#include "support/error.h"
#include "support/shown.h"

// Values that a schema lists are written as it has them. If other schemas or keywords stand beside the list,
// each value is checked by them, and left out if they do not allow it.

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

/// Schemas inside each other that one value is checked by.
constexpr int kMostInside = 500;

class Nesting {
public:
    explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

private:
    int& depth_;
};

bool are_equal(const SchemaValue& a, const SchemaValue& b) {
    if (a.is_number() && b.is_number()) return decimal_of(a.text) == decimal_of(b.text);
    if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
    if (!a.is(Kind::kList) && !a.is(Kind::kObject)) return a.text == b.text;
    for (size_t i = 0; i < a.items.size(); ++i) {
        const SchemaValue* other = a.is(Kind::kList) ? &b.items[i] : b.find(a.keys[i]);
        if (other == nullptr || !are_equal(a.items[i], *other)) return false;
    }
    return true;
}

int64_t characters_in(std::string_view text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace

NodeId SchemaReader::fixed(const Schemas& leaves, const SchemaValue& listing) {
    const SchemaValue& given = *fixed_values(listing);
    if (listing.find("const") == nullptr) expect(given, Kind::kList, "a list of values");
    std::vector<NodeId> ways;
    for (const SchemaValue& item : listed_values(listing))
        if (std::all_of(leaves.begin(), leaves.end(),
                        [&](const SchemaValue* schema) { return is_valid(item, *schema); }))
            ways.push_back(literal(item));
    if (ways.empty()) return nothing(leaves, given, "has no value that the rest of the schema allows");
    return rules_.choice(std::move(ways));
}

/// Blanks as everywhere; texts and numbers as the schema has them.
NodeId SchemaReader::literal(const SchemaValue& value) {
    if (!value.is(Kind::kList) && !value.is(Kind::kObject)) return rules_.literal(value.json());
    std::vector<NodeId> items;
    for (size_t i = 0; i < value.items.size(); ++i) {
        const NodeId item = literal(value.items[i]);
        items.push_back(value.is(Kind::kObject) ? rules_.sequence({rules_.key(value.keys[i]), item}) : item);
    }
    if (value.is(Kind::kList)) return rules_.list(items, std::nullopt, 0, std::nullopt);
    std::vector<Member> members;
    for (const NodeId item : items) members.push_back({item, true});
    return between_braces(members, std::nullopt, {}, value.place);
}

bool SchemaReader::is_valid(const SchemaValue& value, const SchemaValue& schema) {
    if (!schema.is(Kind::kObject)) return !schema.is_false();
    spend(schema, 1 + schema.keys.size());
    const Nesting nesting(checked_inside_);
    if (checked_inside_ > kMostInside) fail(schema, "leads back to itself", "give its recursion an end");
    const auto holds = [&](const SchemaValue& one) { return is_valid(value, one); };
    if (schema.find("$ref") != nullptr && !holds(resolved(target(schema)))) return false;
    const SchemaValue* all = schema.find("allOf");
    const SchemaValue* any = schema.find("anyOf");
    const SchemaValue* one = schema.find("oneOf");
    if (all != nullptr && !std::all_of(all->items.begin(), all->items.end(), holds)) return false;
    if (any != nullptr && std::none_of(any->items.begin(), any->items.end(), holds)) return false;
    if (one != nullptr && std::count_if(one->items.begin(), one->items.end(), holds) != 1) return false;
    const SchemaValue* given = schema.find("const");
    const SchemaValue* list = schema.find("enum");
    const auto is_it = [&](const SchemaValue& item) { return are_equal(item, value); };
    if (given != nullptr && !is_it(*given)) return false;
    if (list != nullptr && std::none_of(list->items.begin(), list->items.end(), is_it)) return false;
    if (!has_type(value, schema)) return false;
    if (value.is_number()) return is_valid_number(value, schema);
    if (value.is(Kind::kText)) return is_valid_string(value, schema);
    if (value.is(Kind::kList)) return is_valid_list(value, schema);
    return !value.is(Kind::kObject) || is_valid_object(value, schema);
}

bool SchemaReader::is_valid_number(const SchemaValue& value, const SchemaValue& schema) {
    NumberTexts wanted;
    if (!narrow(wanted, schema, true)) return true;
    const auto number = decimal_of(value.text);
    if (!number) return false;
    const auto beyond = [](std::strong_ordering order, bool is_open) {
        return is_open ? order <= 0 : order < 0;
    };
    if (wanted.low && beyond(compare(*number, *wanted.low), wanted.is_low_open)) return false;
    if (wanted.high && beyond(compare(*wanted.high, *number), wanted.is_high_open)) return false;
    if (!wanted.factor) return true;
    const auto texts = number_texts({.factor = wanted.factor});
    return texts && matches(*texts, value.text);
}

bool SchemaReader::is_valid_string(const SchemaValue& value, const SchemaValue& schema) {
    const int64_t length = characters_in(value.text);
    if (length < count(schema, "minLength", false).value_or(0)) return false;
    if (const auto most = count(schema, "maxLength", true); most && length > *most) return false;
    const auto texts = pattern_texts({&schema});
    return !texts || matches(*texts, value.text);
}

bool SchemaReader::is_valid_list(const SchemaValue& value, const SchemaValue& schema) {
    const auto size = static_cast<int64_t>(value.items.size());
    if (size < count(schema, "minItems", false).value_or(0)) return false;
    if (const auto most = count(schema, "maxItems", true); most && size > *most) return false;
    const SchemaValue* prefix = schema.find("prefixItems");
    const SchemaValue* items = schema.find("items");
    for (size_t i = 0; i < value.items.size(); ++i) {
        const bool is_first = prefix != nullptr && i < prefix->items.size();
        const SchemaValue* of_item = is_first ? &prefix->items[i] : items;
        if (of_item != nullptr && !is_valid(value.items[i], *of_item)) return false;
    }
    return true;
}

bool SchemaReader::is_valid_object(const SchemaValue& value, const SchemaValue& schema) {
    const auto size = static_cast<int64_t>(value.items.size());
    if (size < count(schema, "minProperties", false).value_or(0)) return false;
    if (const auto most = count(schema, "maxProperties", true); most && size > *most) return false;
    if (const SchemaValue* required = schema.find("required"))
        for (const SchemaValue& name : required->items)
            if (value.find(name.text) == nullptr) return false;
    if (const SchemaValue* rest = schema.find("unevaluatedProperties"); rest != nullptr && rest->is_false())
        fail(*rest, "is not supported beside values that are listed", "write additionalProperties");
    for (size_t i = 0; i < value.items.size(); ++i) {
        const SchemaValue name{
            .kind = Kind::kText, .text = value.keys[i], .items = {}, .keys = {}, .place = value.place};
        if (const SchemaValue* names = schema.find("propertyNames");
            names != nullptr && !is_valid(name, *names))
            return false;
        bool is_known = false;
        if (const SchemaValue* properties = schema.find("properties"))
            if (const SchemaValue* property = properties->find(name.text)) {
                is_known = true;
                if (!is_valid(value.items[i], *property)) return false;
            }
        if (const SchemaValue* patterns = schema.find("patternProperties"))
            for (size_t k = 0; k < patterns->keys.size(); ++k) {
                if (!matches(matching(patterns->keys[k], *patterns), name.text)) continue;
                is_known = true;
                if (!is_valid(value.items[i], patterns->items[k])) return false;
            }
        const SchemaValue* others = schema.find("additionalProperties");
        if (!is_known && others != nullptr && !is_valid(value.items[i], *others)) return false;
    }
    return true;
}

}  // namespace tessera::grammar
