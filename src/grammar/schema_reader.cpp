#include "grammar/schema_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "grammar/integer_range.h"
#include "grammar/schema_branches.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

/// They say something about a value, and nothing about which values there are.
constexpr std::array<std::string_view, 15> kRemarks = {
    "title",    "description", "default", "examples",    "$schema", "$id",         "$comment", "deprecated",
    "readOnly", "writeOnly",   "$defs",   "definitions", "$anchor", "$vocabulary", "strict"};
/// They are followed, each where its type is possible.
constexpr std::array<std::string_view, 22> kFollowed = {"type",
                                                        "enum",
                                                        "const",
                                                        "anyOf",
                                                        "oneOf",
                                                        "allOf",
                                                        "$ref",
                                                        "properties",
                                                        "required",
                                                        "additionalProperties",
                                                        "items",
                                                        "prefixItems",
                                                        "minItems",
                                                        "maxItems",
                                                        "minLength",
                                                        "maxLength",
                                                        "minimum",
                                                        "maximum",
                                                        "exclusiveMinimum",
                                                        "exclusiveMaximum",
                                                        "uniqueItems",
                                                        "minProperties"};
constexpr std::array<std::string_view, 7> kTypes = {"object",  "array",   "string", "number",
                                                    "integer", "boolean", "null"};
/// Digits of an integer: see JsonRules.
constexpr int64_t kLargest = 9'999'999'999'999'999;
constexpr int64_t kMostCounted = 10'000;
/// Schemas and values that are looked at to tell branches of one list apart.
constexpr int64_t kMostBranchWork = 1'000'000;

template <typename List>
bool holds(const List& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

void SchemaReader::fail(const SchemaValue& at, std::string problem, std::string advice) const {
    throw Error(where_, shown(at.place), std::move(problem), std::move(advice));
}

const SchemaValue& SchemaReader::expect(const SchemaValue& value, Kind kind, const char* expected) const {
    if (!value.is(kind)) fail(value, fmt::format("is {}, expected {}", shown(value.json()), expected));
    return value;
}

RuleSet SchemaReader::read() && {
    const NodeId root = rule_of(root_, "schema");
    // One after the other, and not inside each other: references may make a long chain.
    while (!open_.empty()) {
        const SchemaValue* schema = open_.back();
        open_.pop_back();
        rules_.define(referred_[schema], value(*schema));
    }
    return rules_.take(root);
}

NodeId SchemaReader::rule_of(const SchemaValue& schema, const std::string& name) {
    const auto known = referred_.find(&schema);
    if (known != referred_.end()) return rules_.call(known->second);
    const RuleId rule = rules_.declare(name, where_);
    referred_.emplace(&schema, rule);
    open_.push_back(&schema);
    return rules_.call(rule);
}

void SchemaReader::refuse_unknown(const SchemaValue& schema) const {
    for (size_t i = 0; i < schema.keys.size(); ++i) {
        const std::string& key = schema.keys[i];
        const SchemaValue& item = schema.items[i];
        if (holds(kRemarks, key)) continue;
        if (key == "format")
            fail(item, fmt::format("the format {} is not supported", shown(item.json())),
                 "leave it out, and check the text afterwards");
        if (key == "pattern")
            fail(item, "patterns are not supported",
                 "leave it out, or write the whole as a grammar (--grammar)");
        if (key == "uniqueItems" && item.is_true())
            fail(item, "is not supported: a grammar does not compare items", "leave it out");
        if (key == "minProperties" && item.text != "0")
            fail(item, "is not supported", "name the members in `required`");
        if (!holds(kFollowed, key))
            fail(item, "is not supported, and would be ignored",
                 "leave it out, or write the whole as a grammar");
    }
}

void SchemaReader::expect_alone(const SchemaValue& schema, std::string_view keyword, bool allows_type) const {
    for (size_t i = 0; i < schema.keys.size(); ++i) {
        const std::string& key = schema.keys[i];
        if (key == keyword || holds(kRemarks, key) || (allows_type && key == "type")) continue;
        fail(schema.items[i], fmt::format("beside {} is not supported", keyword),
             fmt::format("write it inside of {}, or leave it out", keyword));
    }
}

const SchemaValue& SchemaReader::target(const SchemaValue& schema) const {
    const SchemaValue& reference = expect(*schema.find("$ref"), Kind::kText, "a text");
    std::string_view rest = reference.text;
    if (!rest.starts_with('#'))
        fail(reference, fmt::format("refers to {}, outside of this schema", shown(reference.text)),
             "copy it into $defs, and refer to #/$defs/NAME");
    rest.remove_prefix(1);
    const SchemaValue* at = &root_;
    while (at != nullptr && rest.starts_with('/')) {
        rest.remove_prefix(1);
        std::string name(rest.substr(0, rest.find('/')));
        rest.remove_prefix(name.size());
        for (size_t i = name.find('~'); i != std::string::npos; i = name.find('~', i + 1))
            name.replace(i, 2, name.substr(i, 2) == "~1" ? "/" : "~");
        if (at->is(Kind::kList)) {
            size_t index = at->items.size();
            std::from_chars(name.data(), name.data() + name.size(), index);
            at = index < at->items.size() ? &at->items[index] : nullptr;
        } else {
            at = at->find(name);
        }
    }
    if (at == nullptr || !rest.empty())
        fail(reference, fmt::format("refers to {}, which is not there", shown(reference.text)),
             "write #/$defs/NAME, and the schema under $defs");
    return *at;
}

NodeId SchemaReader::reference(const SchemaValue& schema) {
    expect_alone(schema, "$ref", false);
    const SchemaValue& referred = target(schema);
    return rule_of(referred, referred.place.substr(referred.place.rfind('.') + 1));
}

NodeId SchemaReader::branches(const SchemaValue& list, bool only_one) {
    const std::vector<SchemaValue>& all = expect(list, Kind::kList, "a list of schemas").items;
    if (all.empty()) fail(list, "is empty, expected at least one schema");
    const auto resolve = [&](const SchemaValue& branch) -> const SchemaValue& {
        return branch.is(Kind::kObject) && branch.find("$ref") != nullptr ? target(branch) : branch;
    };
    int64_t work = kMostBranchWork;
    for (size_t i = 0; only_one && i < all.size(); ++i)
        for (size_t j = 0; j < i; ++j) {
            if (are_apart(all[i], all[j], resolve, work)) continue;
            if (work <= 0) fail(list, "has too many branches to tell whether two might hold", "write anyOf");
            fail(list, fmt::format("branches {} and {} might both hold, and only one may", j, i),
                 "write anyOf, or require a property with another `const` in each branch");
        }
    std::vector<NodeId> ways;
    for (const SchemaValue& branch : all)
        if (!branch.is_false()) ways.push_back(value(branch));
    if (ways.empty()) fail(list, "allows nothing");
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
    return between_braces(members, std::nullopt, value.place);
}

NodeId SchemaReader::fixed(const SchemaValue& schema) {
    const char* keyword = schema.find("const") != nullptr ? "const" : "enum";
    expect_alone(schema, keyword, true);
    const SchemaValue& given = *fixed_values(schema);
    std::vector<NodeId> ways;
    if (keyword == std::string_view("const")) {
        if (has_type(given, schema)) ways.push_back(literal(given));
    } else {
        for (const SchemaValue& item : expect(given, Kind::kList, "a list of values").items)
            if (has_type(item, schema)) ways.push_back(literal(item));
    }
    if (ways.empty()) fail(given, "has no value of the type that the schema names");
    return rules_.choice(std::move(ways));
}

std::set<std::string> SchemaReader::types(const SchemaValue& schema) const {
    std::set<std::string> result;
    if (const SchemaValue* type = schema.find("type")) {
        const auto add = [&](const SchemaValue& name) {
            if (!name.is(Kind::kText) || !holds(kTypes, name.text))
                fail(name,
                     fmt::format("is {}, expected object, array, string, number, integer, boolean or null",
                                 shown(name.json())));
            result.insert(name.text);
        };
        if (type->is(Kind::kList))
            for (const SchemaValue& item : type->items) add(item);
        else
            add(*type);
        if (result.empty()) fail(*type, "names no type");
        if (result.contains("number")) result.erase("integer");
        return result;
    }
    const auto has = [&](std::initializer_list<const char*> keywords) {
        return std::any_of(keywords.begin(), keywords.end(),
                           [&](const char* keyword) { return schema.find(keyword) != nullptr; });
    };
    if (has({"properties", "required", "additionalProperties"})) result.insert("object");
    if (has({"items", "prefixItems", "minItems", "maxItems"})) result.insert("array");
    if (has({"minLength", "maxLength"})) result.insert("string");
    if (has({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})) result.insert("number");
    return result;
}

NodeId SchemaReader::value(const SchemaValue& schema) {
    if (schema.is_true()) return rules_.value();
    if (schema.is_false()) fail(schema, "is false: no value is allowed");
    expect(schema, Kind::kObject, "a schema");
    refuse_unknown(schema);
    if (schema.find("$ref") != nullptr) return reference(schema);
    if (fixed_values(schema) != nullptr) return fixed(schema);
    for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
        const SchemaValue* list = schema.find(keyword);
        if (list == nullptr) continue;
        expect_alone(schema, keyword, false);
        if (keyword == std::string_view("allOf") && list->items.size() > 1)
            fail(*list, "is not supported with several schemas", "write them as one");
        return branches(*list, keyword == std::string_view("oneOf"));
    }
    const std::set<std::string> names = types(schema);
    if (names.empty()) return rules_.value();
    std::vector<NodeId> ways;
    for (const std::string& name : names) ways.push_back(of_type(schema, name));
    return rules_.choice(std::move(ways));
}

NodeId SchemaReader::of_type(const SchemaValue& schema, std::string_view type) {
    if (type == "object") return object(schema);
    if (type == "array") return array(schema);
    if (type == "string") return string(schema);
    if (type == "integer") return integer(schema);
    if (type == "null") return rules_.literal("null");
    if (type == "boolean") return rules_.choice({rules_.literal("true"), rules_.literal("false")});
    for (const char* keyword : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
        if (const SchemaValue* bound = schema.find(keyword))
            fail(*bound, "is supported for integers alone", "write \"type\": \"integer\", or leave it out");
    return rules_.number();
}

std::optional<int64_t> SchemaReader::count(const SchemaValue& schema, const char* keyword) const {
    const SchemaValue* value = schema.find(keyword);
    if (value == nullptr) return std::nullopt;
    int64_t result = -1;
    const std::string& text = value->text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (!value->is_number() || error != std::errc() || end != text.data() + text.size() || result < 0 ||
        result > kMostCounted)
        fail(*value,
             fmt::format("is {}, expected an integer from 0 to {}", shown(value->json()), kMostCounted));
    return result;
}

NodeId SchemaReader::string(const SchemaValue& schema) {
    const auto least = count(schema, "minLength"), most = count(schema, "maxLength");
    if (!least && !most) return rules_.string();
    if (most && least.value_or(0) > *most) fail(*schema.find("maxLength"), "is below minLength");
    return rules_.string(least.value_or(0), most);
}

std::optional<int64_t> SchemaReader::bound(const SchemaValue& schema, const char* keyword, bool is_low,
                                           bool is_exclusive) const {
    const SchemaValue* value = schema.find(keyword);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) fail(*value, fmt::format("is {}, expected a number", shown(value->json())));
    int64_t whole = 0;
    const std::string& text = value->text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    bool is_whole = error == std::errc() && end == text.data() + text.size();
    if (!is_whole) {
        double real = 0;
        std::from_chars(text.data(), text.data() + text.size(), real);
        const double inside = is_low ? std::ceil(real) : std::floor(real);
        whole = inside > 1e17 ? kLargest + 1 : inside < -1e17 ? -kLargest - 1 : static_cast<int64_t>(inside);
        is_whole = inside == real;
    }
    whole = std::clamp(whole, -kLargest - 1, kLargest + 1);
    if (is_exclusive && is_whole) whole += is_low ? 1 : -1;
    return whole;
}

NodeId SchemaReader::integer(const SchemaValue& schema) {
    std::optional<int64_t> low = bound(schema, "minimum", true, false);
    if (const auto other = bound(schema, "exclusiveMinimum", true, true))
        low = std::max(low.value_or(*other), *other);
    std::optional<int64_t> high = bound(schema, "maximum", false, false);
    if (const auto other = bound(schema, "exclusiveMaximum", false, true))
        high = std::min(high.value_or(*other), *other);
    if (!low && !high) return rules_.integer();
    const int64_t first = std::max(low.value_or(-kLargest), -kLargest);
    const int64_t last = std::min(high.value_or(kLargest), kLargest);
    if (first > last)
        fail(schema, "allows no integer",
             fmt::format("of up to 16 digits, those from {} to {} are left", first, last));
    return integer_range(rules_, first, last);
}

NodeId SchemaReader::array(const SchemaValue& schema) {
    const auto least = count(schema, "minItems"), most = count(schema, "maxItems");
    if (most && least.value_or(0) > *most) fail(*schema.find("maxItems"), "is below minItems");
    std::vector<NodeId> first;
    const SchemaValue* prefix = schema.find("prefixItems");
    if (prefix != nullptr)
        for (const SchemaValue& item : expect(*prefix, Kind::kList, "a list of schemas").items) {
            if (most && static_cast<int64_t>(first.size()) == *most) break;
            first.push_back(value(item));
        }
    const SchemaValue* items = schema.find("items");
    if (items != nullptr && items->is(Kind::kList))
        fail(*items, "is a list, expected a schema", "write prefixItems");
    std::optional<NodeId> rest;
    if (items != nullptr ? !items->is_false() : first.empty())
        rest = items == nullptr ? rules_.value() : value(*items);
    if (!rest && least.value_or(0) > static_cast<int64_t>(first.size())) {
        if (items != nullptr) fail(*schema.find("minItems"), "is more than the items that are allowed");
        rest = rules_.value();
    }
    return rules_.list(first, rest, least.value_or(0), most);
}

}  // namespace tessera::grammar
