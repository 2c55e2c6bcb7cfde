#include <algorithm>

#include "run/grammar/schema_reader.h"
#include "support/error.h"
#include "support/shown.h"

// A member must hold by a conjunction, too: of each schema's rule for its name, from `properties`, from
// patterns that the name matches, or from `additionalProperties`. Names that no schema gives are a regular
// set of texts for each set of patterns that they match:
//
//     {"patternProperties": {"^a": x, "b$": y}}     ^a and b$: x and y     ^a, not b$: x     b$, not ^a: y

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

/// A limit, since all sets of patterns are tried.
constexpr size_t kMostPatterns = 6;

/// True if the schemas do not restrict members.
bool are_free(const std::vector<const SchemaValue*>& leaves) {
    return std::all_of(leaves.begin(), leaves.end(), [](const SchemaValue* schema) {
        const SchemaValue* others = schema->find("additionalProperties");
        const SchemaValue* rest = schema->find("unevaluatedProperties");
        return schema->find("properties") == nullptr && schema->find("patternProperties") == nullptr &&
               schema->find("propertyNames") == nullptr && (others == nullptr || others->is_true()) &&
               (rest == nullptr || rest->is_true());
    });
}

}  // namespace

/// Joins the rules of one schema for the name. @return true if there is any
bool SchemaReader::join_member(const SchemaValue& schema, const std::string& name, Schemas& all) {
    bool is_known = false;
    const auto add = [&](const SchemaValue& one) {
        all.push_back(&one);
        is_known = true;
    };
    if (const SchemaValue* properties = schema.find("properties"))
        if (const SchemaValue* property = properties->find(name)) add(*property);
    if (const SchemaValue* patterns = schema.find("patternProperties"))
        for (size_t i = 0; i < patterns->keys.size(); ++i)
            if (matches(matching(patterns->keys[i], *patterns), name)) add(patterns->items[i]);
    const SchemaValue* others = schema.find("additionalProperties");
    if (!is_known && others != nullptr) add(*others);
    return is_known;
}

std::optional<SchemaReader::Conjunction> SchemaReader::member(const Schemas& leaves,
                                                              const std::string& name) {
    Conjunction result;
    bool is_known = false, needs_known = false;
    for (const SchemaValue* schema : leaves) {
        is_known = join_member(*schema, name, result.all) || is_known;
        const SchemaValue* rest = schema->find("unevaluatedProperties");
        needs_known = needs_known || (rest != nullptr && rest->is_false());
        const SchemaValue* names = schema->find("propertyNames");
        const SchemaValue text{
            .kind = Kind::kText, .text = name, .items = {}, .keys = {}, .place = schema->place};
        if (names != nullptr && !is_valid(text, *names)) return std::nullopt;
    }
    if (needs_known && !is_known) return std::nullopt;
    for (const SchemaValue* schema : result.all)
        if (schema->is_false()) return std::nullopt;
    return result;
}

std::vector<SchemaReader::GivenMember> SchemaReader::given_members(const Schemas& leaves) {
    std::vector<std::string> names;
    std::set<std::string> known, required;
    const auto add = [&](const std::string& name) {
        if (known.insert(name).second) names.push_back(name);
    };
    for (const SchemaValue* schema : leaves) {
        if (const SchemaValue* properties = schema->find("properties"))
            for (const std::string& name : expect(*properties, Kind::kObject, "an object of schemas").keys)
                add(name);
        if (const SchemaValue* patterns = schema->find("patternProperties"))
            expect(*patterns, Kind::kObject, "an object of schemas");
        if (const SchemaValue* list = schema->find("required"))
            for (const SchemaValue& item : expect(*list, Kind::kList, "a list of names").items)
                required.insert(expect(item, Kind::kText, "a name").text);
    }
    for (const SchemaValue* schema : leaves)
        if (const SchemaValue* list = schema->find("required"))
            for (const SchemaValue& item : list->items) add(item.text);
    std::vector<GivenMember> given;
    for (const std::string& name : names)
        given.push_back({name, required.contains(name), member(leaves, name)});
    return given;
}

NodeId SchemaReader::object(const Schemas& leaves) {
    const auto [least, most] = counts(leaves, "minProperties", "maxProperties");
    std::vector<Member> members;
    std::vector<std::string> names;
    for (const auto& [name, is_required, content] : given_members(leaves)) {
        names.push_back(name);
        if (!content && is_required)
            return nothing(leaves, *leaves.front(),
                           fmt::format("requires the member {}, but allows no value of it", shown(name)));
        if (content) members.push_back({rules_.sequence({rules_.key(name), joined(*content)}), is_required});
    }
    if (names.empty() && least == 0 && !most && are_free(leaves)) return rules_.object();
    const std::vector<NodeId> others = other_members(leaves, names);
    std::optional<NodeId> other;
    if (!others.empty() && least > static_cast<int64_t>(members.size()) + 1)
        fail(*leaves.front(),
             "has a minProperties that is not supported: names that the schema does not give may come twice",
             "name the members in `properties`");
    if (!others.empty()) {
        const RuleId rule = rules_.declare("other-member", where_);
        rules_.define(rule, rules_.choice(others));
        other = rules_.call(rule);
    }
    // No counting is needed if every text has an allowed count.
    const auto given = static_cast<int64_t>(members.size());
    const auto always =
        std::count_if(members.begin(), members.end(), [](const Member& one) { return one.is_required; });
    const MemberCounts counted{.least = least <= always ? 0 : least,
                               .most = !other && most && *most >= given ? std::nullopt : most};
    return between_braces(members, other, counted, leaves.front()->place);
}

/// The names that schemas allow besides the given ones; none: any.
std::optional<TextAutomaton> SchemaReader::name_texts(const Schemas& leaves,
                                                      const std::vector<std::string>& names) {
    std::optional<TextAutomaton> result;
    const SchemaValue& at = *leaves.front();
    const auto keep = [&](std::optional<TextAutomaton> texts) {
        if (!texts)
            fail(at, "has names of members that take too many states",
                 "write \"additionalProperties\": false");
        result = *std::move(texts);
    };
    if (!names.empty()) {
        const auto given = these_texts(names);
        keep(given ? difference(any_text(), *given) : std::nullopt);
    }
    for (const SchemaValue* schema : leaves) {
        const SchemaValue* allowed = schema->find("propertyNames");
        if (allowed == nullptr) continue;
        const Flat flat = flatten({{allowed}, {}});
        if (!flat.lists.empty()) fail(*allowed, "is supported without anyOf and oneOf alone");
        keep(intersection(result.value_or(any_text()), string_texts(flat.leaves)));
    }
    return result;
}

std::vector<NodeId> SchemaReader::other_members(const Schemas& leaves,
                                                const std::vector<std::string>& names) {
    std::vector<std::pair<const SchemaValue*, size_t>> patterns;  // of a leaf, by their index in it
    bool has_given = false, is_open = false, is_closed = false;
    for (const SchemaValue* schema : leaves) {
        if (const SchemaValue* list = schema->find("patternProperties"))
            for (size_t i = 0; i < list->keys.size(); ++i) patterns.emplace_back(schema, i);
        has_given = has_given || schema->find("properties") != nullptr;
        const SchemaValue* others = schema->find("additionalProperties");
        if (others != nullptr) (others->is_false() ? is_closed : is_open) = true;
        if (const SchemaValue* rest = schema->find("unevaluatedProperties"))
            (rest->is_false() ? is_closed : is_open) = true;
    }
    if (patterns.size() > kMostPatterns)
        fail(*leaves.front(), fmt::format("has more than {} patternProperties", kMostPatterns),
             "write fewer");
    const std::optional<TextAutomaton> free = name_texts(leaves, names);
    std::vector<NodeId> result;
    for (size_t set = 0; set < size_t{1} << patterns.size(); ++set) {
        const bool matches_none = set == 0;
        if (matches_none && (is_closed || !(is_open || (!has_given && patterns.empty())))) continue;
        std::optional<TextAutomaton> texts = free;
        std::set<const SchemaValue*> speaking;
        Conjunction content;
        for (size_t i = 0; i < patterns.size(); ++i) {
            const SchemaValue& list = *patterns[i].first->find("patternProperties");
            const TextAutomaton& pattern = matching(list.keys[patterns[i].second], list);
            const bool is_in = (set >> i & 1) != 0;
            const TextAutomaton before = texts.value_or(any_text());
            texts = is_in ? intersection(before, pattern) : difference(before, pattern);
            spend(list, before.states.size() + pattern.states.size());
            if (!texts) fail(list, "takes too many states", "write fewer patterns");
            if (!is_in) continue;
            speaking.insert(patterns[i].first);
            content.all.push_back(&list.items[patterns[i].second]);
        }
        for (const SchemaValue* schema : leaves)
            if (const SchemaValue* others = schema->find("additionalProperties");
                others && !speaking.contains(schema))
                content.all.push_back(others);
        const bool is_forbidden = std::any_of(content.all.begin(), content.all.end(),
                                              [](const SchemaValue* schema) { return schema->is_false(); });
        if (is_forbidden || (texts && is_empty(*texts))) continue;
        std::erase_if(content.all, [](const SchemaValue* schema) { return schema->is_true(); });
        const NodeId name = texts ? rules_.string_of(*texts) : rules_.string();
        result.push_back(rules_.sequence({name, rules_.literal(":"), rules_.blanks(), joined(content)}));
    }
    return result;
}

}  // namespace tessera::grammar
