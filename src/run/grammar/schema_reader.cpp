#include "run/grammar/schema_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "run/grammar/schema_branches.h"
#include "run/grammar/schema_keywords.h"
#include "support/error.h"
#include "support/shown.h"

// Every value must hold by a conjunction of schemas. Referenced schemas and those of `allOf` join it; `anyOf`
// and `oneOf` give one way for each branch, which joins, too. The rest are leaves, whose keywords are then
// read together, type by type.
//
//     {"$ref": "#/$defs/a", "anyOf": [x, y]}   ->   a and x   |   a and y
//
// Conjunctions of several schemas are rules, made once each, so schemas may refer to themselves.

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

constexpr std::array<std::string_view, 7> kTypes = {"object",  "array",   "string", "number",
                                                    "integer", "boolean", "null"};
constexpr int64_t kMostCounted = 10'000;
/// A limit on the schemas and values that are visited to tell branches of one list apart.
constexpr int64_t kMostBranchWork = 1'000'000;
constexpr size_t kMostConjunctions = 20'000;

template <typename List>
bool holds(const List& list, const typename List::value_type& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

void SchemaReader::fail(const SchemaValue& at, std::string problem, std::string advice) const {
    throw Error(where_, shown(at.place), std::move(problem), std::move(advice));
}

NodeId SchemaReader::nothing(const Schemas& leaves, const SchemaValue& at, const std::string& problem,
                             const std::string& advice) {
    if (leaves.size() == 1) fail(at, problem, advice);
    return rules_.nothing();
}

const SchemaValue& SchemaReader::expect(const SchemaValue& value, Kind kind, const char* expected) const {
    if (!value.is(kind)) fail(value, fmt::format("is {}, expected {}", shown(value.json()), expected));
    return value;
}

RuleSet SchemaReader::read() && {
    const NodeId root = rule_of({{&root_}, {}}, "schema");
    define_open();
    return rules_.take(root);
}

/// One after the other, not recursively: references may make a long chain.
void SchemaReader::define_open() {
    while (!open_.empty()) {
        const Conjunction conjunction = std::move(open_.back());
        open_.pop_back();
        rules_.define(rule_numbers_[conjunction], value(conjunction));
    }
}

NodeId SchemaReader::rule_of(const Conjunction& conjunction, const std::string& name) {
    const auto [known, is_new] = rule_numbers_.try_emplace(conjunction);
    if (is_new) {
        if (rule_numbers_.size() > kMostConjunctions)
            fail(*conjunction.all.back(), "makes too many combinations of schemas",
                 "write fewer anyOf inside of allOf");
        known->second = rules_.declare(name, where_);
        open_.push_back(conjunction);
    }
    return rules_.call(known->second);
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

/// The schema behind references that stand alone.
const SchemaValue& SchemaReader::resolved(const SchemaValue& schema) {
    const auto says_more = [&](const SchemaValue& one) {
        for (size_t i = 0; i < one.keys.size(); ++i)
            if (one.keys[i] != "$ref" &&
                use_of_keyword(one.keys[i], one.items[i], where_) != KeywordUse::kRemark)
                return true;
        return false;
    };
    Schemas passed;
    const SchemaValue* at = &schema;
    while (at->is(Kind::kObject) && at->find("$ref") != nullptr && !says_more(*at)) {
        const auto [known, is_new] = resolved_.try_emplace(at, nullptr);
        if (!is_new && known->second == nullptr)
            fail(*at, "leads back to itself", "give its recursion an end");
        if (!is_new) {
            at = known->second;
            break;
        }
        passed.push_back(at);
        at = &target(*at);
    }
    for (const SchemaValue* one : passed) resolved_[one] = at;
    return *at;
}

NodeId SchemaReader::value(const SchemaValue& schema) {
    // A schema that brings in others may lead back to itself.
    const bool combines =
        schema.is(Kind::kObject) && (schema.find("$ref") != nullptr || schema.find("allOf") != nullptr);
    const SchemaValue& behind = resolved(schema);
    if (combines) return rule_of({{&behind}, {}}, behind.place.substr(behind.place.rfind('.') + 1));
    if (schema.is_false()) fail(schema, "is false: no value is allowed");
    return value(Conjunction{{&schema}, {}});
}

NodeId SchemaReader::value(const Conjunction& conjunction) {
    const Flat flat = flatten(conjunction);
    if (flat.allows_nothing) return rules_.nothing();
    if (!flat.lists.empty()) return branches(conjunction, flat);
    return flat.leaves.empty() ? rules_.value() : leaf(flat.leaves);
}

NodeId SchemaReader::joined(const Conjunction& conjunction) {
    if (conjunction.all.empty()) return rules_.value();
    return conjunction.all.size() == 1 ? value(*conjunction.all.front()) : rule_of(conjunction, "all");
}

SchemaReader::Flat SchemaReader::flatten(const Conjunction& conjunction) {
    Flat flat;
    // Schemas that are being walked stay on the stack below their parts.
    std::vector<std::pair<const SchemaValue*, bool>> stack;
    std::map<const SchemaValue*, bool> is_open;
    for (size_t i = conjunction.all.size(); i-- > 0;) stack.emplace_back(conjunction.all[i], false);
    while (!stack.empty()) {
        auto& [schema, is_entered] = stack.back();
        if (is_entered) {
            is_open[schema] = false;
            stack.pop_back();
            continue;
        }
        const auto [known, is_new] = is_open.emplace(schema, true);
        if (!is_new) {
            if (known->second) fail(*schema, "leads back to itself", "give its recursion an end");
            stack.pop_back();
            continue;
        }
        is_entered = true;
        Schemas next;
        meet(*schema, conjunction, flat, next);
        for (size_t i = next.size(); i-- > 0;) stack.emplace_back(next[i], false);
    }
    return flat;
}

/// Adds the schema itself to `flat`, and those that must hold beside it to `next`.
void SchemaReader::meet(const SchemaValue& schema, const Conjunction& within, Flat& flat, Schemas& next) {
    if (schema.is_true()) return;
    flat.allows_nothing = flat.allows_nothing || schema.is_false();
    if (schema.is_false()) return;
    expect(schema, Kind::kObject, "a schema");
    spend(schema, 1 + schema.keys.size());
    bool is_leaf = false;
    for (size_t i = 0; i < schema.keys.size(); ++i)
        is_leaf = use_of_keyword(schema.keys[i], schema.items[i], where_) == KeywordUse::kFollowed || is_leaf;
    if (is_leaf) flat.leaves.push_back(&schema);
    if (schema.find("$ref") != nullptr) next.push_back(&target(schema));
    if (const SchemaValue* list = schema.find("allOf"))
        for (const SchemaValue& item : expect(*list, Kind::kList, "a list of schemas").items)
            next.push_back(&item);
    for (const char* keyword : {"anyOf", "oneOf"})
        if (const SchemaValue* list = schema.find(keyword); list != nullptr && !holds(within.taken, list)) {
            if (expect(*list, Kind::kList, "a list of schemas").items.empty())
                fail(*list, "is empty, expected at least one schema");
            flat.lists.push_back(list);
        }
}

/// True if a schema still restricts anything beside a branch of the taken lists.
bool SchemaReader::says_something(const SchemaValue& schema, const Schemas& taken) const {
    if (!schema.is(Kind::kObject)) return !schema.is_true();
    for (size_t i = 0; i < schema.keys.size(); ++i)
        if (use_of_keyword(schema.keys[i], schema.items[i], where_) != KeywordUse::kRemark &&
            !holds(taken, &schema.items[i]))
            return true;
    return false;
}

NodeId SchemaReader::branches(const Conjunction& conjunction, const Flat& flat) {
    const SchemaValue& list = *flat.lists.front();
    const bool only_one = list.place.ends_with("oneOf");
    Conjunction beside{{}, conjunction.taken};
    beside.taken.push_back(&list);
    for (const SchemaValue* schema : conjunction.all)
        if (says_something(*schema, beside.taken)) beside.all.push_back(schema);
    const auto resolve = [&](const SchemaValue& branch) -> const SchemaValue& { return resolved(branch); };
    const bool are_objects = std::any_of(flat.leaves.begin(), flat.leaves.end(), is_object_alone);
    int64_t work = kMostBranchWork;
    std::vector<NodeId> ways;
    for (size_t i = 0; i < list.items.size(); ++i) {
        const SchemaValue& branch = list.items[i];
        Conjunction next = beside;
        next.all.push_back(&branch);
        for (size_t j = 0; only_one && j < list.items.size(); ++j) {
            if (j == i || are_apart(branch, list.items[j], resolve, work)) continue;
            if (work <= 0) fail(list, "has too many branches to tell whether two might hold", "write anyOf");
            const Separation separation = separate(resolved(branch), resolved(list.items[j]), are_objects);
            if (!separation.is_possible)
                fail(list,
                     fmt::format("branches {} and {} might both hold, and only one may", std::min(i, j),
                                 std::max(i, j)),
                     "write anyOf, or require a property with another `const` in each branch");
            if (!separation.absent) continue;
            const auto [absent, is_new] = absent_.try_emplace(*separation.absent);
            if (is_new) absent->second = without_member(*separation.absent, list.place);
            if (!holds(next.all, &absent->second)) next.all.push_back(&absent->second);
        }
        if (branch.is_false()) continue;
        ways.push_back(next.all.size() == 1 ? value(branch) : rule_of(next, "branch"));
    }
    if (ways.empty()) fail(list, "allows nothing");
    return rules_.choice(std::move(ways));
}

std::set<std::string> SchemaReader::types(const Schemas& leaves) const {
    std::optional<std::set<std::string>> stated;
    for (const SchemaValue* schema : leaves) {
        const SchemaValue* type = schema->find("type");
        if (type == nullptr) continue;
        std::set<std::string> names;
        const auto add = [&](const SchemaValue& name) {
            if (!name.is(Kind::kText) || !holds(kTypes, name.text))
                fail(name,
                     fmt::format("is {}, expected object, array, string, number, integer, boolean or null",
                                 shown(name.json())));
            names.insert(name.text);
            if (name.text == "number") names.insert("integer");
        };
        if (type->is(Kind::kList))
            for (const SchemaValue& item : type->items) add(item);
        else
            add(*type);
        if (names.empty()) fail(*type, "names no type");
        if (stated)
            std::erase_if(*stated, [&](const std::string& name) { return !names.contains(name); });
        else
            stated = std::move(names);
    }
    if (!stated) {
        const auto has = [&](std::initializer_list<const char*> keywords) {
            return std::any_of(leaves.begin(), leaves.end(), [&](const SchemaValue* schema) {
                return std::any_of(keywords.begin(), keywords.end(),
                                   [&](const char* keyword) { return schema->find(keyword) != nullptr; });
            });
        };
        stated.emplace();
        if (has({"properties", "required", "additionalProperties", "patternProperties", "propertyNames",
                 "minProperties", "maxProperties", "unevaluatedProperties"}))
            stated->insert("object");
        if (has({"items", "prefixItems", "minItems", "maxItems"})) stated->insert("array");
        if (has({"minLength", "maxLength", "pattern", "format"})) stated->insert("string");
        if (has({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}))
            stated->insert("number");
    }
    if (stated->contains("number")) stated->erase("integer");
    return *stated;
}

NodeId SchemaReader::leaf(const Schemas& leaves) {
    const std::set<std::string> names = types(leaves);
    const bool states_type = std::any_of(leaves.begin(), leaves.end(), [](const SchemaValue* schema) {
        return schema->find("type") != nullptr;
    });
    for (const SchemaValue* schema : leaves)
        if (const auto bare = bare_.find(schema); bare != bare_.end())
            return bare_string(leaves, bare->second);
    for (const SchemaValue* schema : leaves)
        if (fixed_values(*schema) != nullptr) return fixed(leaves, *schema);
    if (names.empty() && !states_type) return rules_.value();
    if (names.empty()) return nothing(leaves, *leaves.front(), "allows no type");
    std::vector<NodeId> ways;
    for (const std::string& name : names) ways.push_back(of_type(leaves, name));
    return rules_.choice(std::move(ways));
}

NodeId SchemaReader::of_type(const Schemas& leaves, std::string_view type) {
    if (type == "object") return object(leaves);
    if (type == "array") return array(leaves);
    if (type == "string") return string(leaves);
    if (type == "integer") return number(leaves, true);
    if (type == "number") return number(leaves, false);
    if (type == "null") return rules_.literal("null");
    return rules_.choice({rules_.literal("true"), rules_.literal("false")});
}

std::optional<int64_t> SchemaReader::count(const SchemaValue& schema, const char* keyword,
                                           bool is_most) const {
    const SchemaValue* value = schema.find(keyword);
    if (value == nullptr) return std::nullopt;
    double real = -1;
    const std::string& text = value->text;
    if (value->is_number()) std::from_chars(text.data(), text.data() + text.size(), real);
    const bool is_whole = real >= 0 && real == std::floor(real);
    // A larger limit may be lowered to this one: shorter texts remain valid.
    if (is_whole && is_most) real = std::min(real, static_cast<double>(kMostCounted));
    if (!is_whole || real > kMostCounted)
        fail(*value,
             fmt::format("is {}, expected an integer from 0 to {}", shown(value->json()), kMostCounted));
    return static_cast<int64_t>(real);
}

/// The narrowest counts of all schemas.
std::pair<int64_t, std::optional<int64_t>> SchemaReader::counts(const Schemas& leaves, const char* least,
                                                                const char* most) const {
    int64_t low = 0;
    std::optional<int64_t> high;
    for (const SchemaValue* schema : leaves) {
        low = std::max(low, count(*schema, least, false).value_or(0));
        if (const auto value = count(*schema, most, true)) high = std::min(high.value_or(*value), *value);
    }
    return {low, high};
}

}  // namespace tessera::grammar
