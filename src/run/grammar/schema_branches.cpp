#include "run/grammar/schema_branches.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;
/// References and properties inside each other that are looked into.
constexpr int kDepth = 8;

std::vector<std::string> type_names(const SchemaValue& value) {
    switch (value.kind) {
        case Kind::kNull:
            return {"null"};
        case Kind::kBoolean:
            return {"boolean"};
        case Kind::kInteger:
            return {"integer", "number"};
        case Kind::kReal:
            return {"number"};
        case Kind::kText:
            return {"string"};
        case Kind::kList:
            return {"array"};
        case Kind::kObject:
            return {"object"};
    }
    return {};
}

std::vector<std::string> stated_types(const SchemaValue& schema) {
    const SchemaValue* type = schema.find("type");
    if (type == nullptr) return {};
    if (!type->is(Kind::kList)) return {type->text};
    std::vector<std::string> names;
    for (const SchemaValue& item : type->items) names.push_back(item.text);
    return names;
}

std::vector<const SchemaValue*> values_of(const SchemaValue& schema) {
    if (const SchemaValue* value = schema.find("const")) return {value};
    std::vector<const SchemaValue*> values;
    if (const SchemaValue* list = schema.find("enum"))
        for (const SchemaValue& item : list->items) values.push_back(&item);
    return values;
}

/// Integers count as numbers.
std::set<std::string> types_of(const SchemaValue& schema) {
    std::set<std::string> types;
    for (const std::string& name : stated_types(schema)) types.insert(name == "integer" ? "number" : name);
    if (types.empty())
        for (const SchemaValue* value : values_of(schema)) types.insert(type_names(*value).back());
    return types;
}

bool share(const std::set<std::string>& a, const std::set<std::string>& b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string& one) { return b.contains(one); });
}

std::set<std::string> texts_of(const SchemaValue& schema) {
    std::set<std::string> texts;
    for (const SchemaValue* value : values_of(schema)) texts.insert(value->json());
    return texts;
}

bool requires_property(const SchemaValue& schema, const std::string& name) {
    const SchemaValue* required = schema.find("required");
    return required != nullptr && std::any_of(required->items.begin(), required->items.end(),
                                              [&](const SchemaValue& item) { return item.text == name; });
}

bool are_apart_within(const SchemaValue& first, const SchemaValue& second, const ResolveReference& resolve,
                      int depth, int64_t& work) {
    const SchemaValue& a = resolve(first);
    const SchemaValue& b = resolve(second);
    work -= 1 + static_cast<int64_t>(values_of(a).size() + values_of(b).size());
    if (depth == 0 || work <= 0) return false;
    if (a.is_false() || b.is_false()) return true;
    if (!a.is(Kind::kObject) || !b.is(Kind::kObject)) return false;
    const auto types_a = types_of(a), types_b = types_of(b);
    if (!types_a.empty() && !types_b.empty() && !share(types_a, types_b)) return true;
    const auto texts_a = texts_of(a), texts_b = texts_of(b);
    if (!texts_a.empty() && !texts_b.empty() && !share(texts_a, texts_b)) return true;
    const std::set<std::string> object = {"object"};
    if (types_a != object || types_b != object) return false;
    const SchemaValue* properties_a = a.find("properties");
    const SchemaValue* properties_b = b.find("properties");
    if (properties_a == nullptr || properties_b == nullptr) return false;
    for (const std::string& name : properties_a->keys) {
        work -= static_cast<int64_t>(properties_a->keys.size() + properties_b->keys.size()) / 16;
        const SchemaValue* other = properties_b->find(name);
        if (other != nullptr && requires_property(a, name) && requires_property(b, name) &&
            are_apart_within(*properties_a->find(name), *other, resolve, depth - 1, work))
            return true;
    }
    return false;
}

}  // namespace

bool are_apart(const SchemaValue& a, const SchemaValue& b, const ResolveReference& resolve, int64_t& work) {
    return are_apart_within(a, b, resolve, kDepth, work);
}

bool is_object_alone(const SchemaValue* schema) {
    return schema->is(Kind::kObject) && types_of(*schema) == std::set<std::string>{"object"};
}

Separation separate(const SchemaValue& schema, const SchemaValue& other, bool are_objects) {
    if (!schema.is(Kind::kObject) || !other.is(Kind::kObject)) return {};
    if (!are_objects && !is_object_alone(&schema)) return {};
    const auto required_by = [](const SchemaValue& one) {
        const SchemaValue* list = one.find("required");
        return list == nullptr ? std::vector<SchemaValue>() : list->items;
    };
    const SchemaValue* others = other.find("additionalProperties");
    const SchemaValue* properties = other.find("properties");
    if (others != nullptr && others->is_false() && other.find("patternProperties") == nullptr)
        for (const SchemaValue& item : required_by(schema))
            if (properties == nullptr || properties->find(item.text) == nullptr)
                return {.is_possible = true, .absent = {}};
    for (const SchemaValue& item : required_by(other))
        if (!requires_property(schema, item.text)) return {.is_possible = true, .absent = item.text};
    return {};
}

SchemaValue without_member(const std::string& name, const std::string& place) {
    const SchemaValue never{.kind = Kind::kBoolean, .text = "false", .items = {}, .keys = {}, .place = place};
    const SchemaValue properties{
        .kind = Kind::kObject, .text = {}, .items = {never}, .keys = {name}, .place = place};
    return {.kind = Kind::kObject, .text = {}, .items = {properties}, .keys = {"properties"}, .place = place};
}

bool has_type(const SchemaValue& value, const SchemaValue& schema) {
    const std::vector<std::string> stated = stated_types(schema);
    if (stated.empty()) return true;
    const std::vector<std::string> names = type_names(value);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::find(stated.begin(), stated.end(), name) != stated.end();
    });
}

const SchemaValue* fixed_values(const SchemaValue& schema) {
    const SchemaValue* value = schema.find("const");
    return value != nullptr ? value : schema.find("enum");
}

std::vector<SchemaValue> listed_values(const SchemaValue& schema) {
    if (const SchemaValue* value = schema.find("const")) return {*value};
    const SchemaValue* list = schema.find("enum");
    return list == nullptr ? std::vector<SchemaValue>() : list->items;
}

}  // namespace tessera::grammar
