#include "run/grammar/member_rules.h"

#include <algorithm>
#include <utility>

#include "run/grammar/regular_expression.h"
#include "run/grammar/schema_reader.h"
#include "support/error.h"
#include "support/shown.h"

// The strings of a member are the values of its schema and {"type": "string"}, its other values those of the
// schema and a list of the other types, so that all that schemas say of values holds here, too.

namespace tessera::grammar {
namespace {

/// The JSON values that are no strings, by their beginning where they have parts.
constexpr const char* kJsonValues =
    R"(^(?:[\[{][\s\S]*|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$)";
constexpr int64_t kPatternWork = 1'000'000;

TextAutomaton json_values() {
    int64_t work = kPatternWork;
    return texts_with_match(kJsonValues, "JSON", "values", work);
}

/// A regular expression of the text itself.
std::string quoted(std::string_view text) {
    std::string pattern;
    for (const char c : text) {
        if (std::string_view(R"(^$\.*+?()[]{}|/-)").find(c) != std::string_view::npos) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

/// Tells which rules have any text.
class Productive {
public:
    explicit Productive(const RuleSet& rules) : rules_(rules), rule_has_(rules.rules.size()) {}

    /// Looks at all rules once. @return false if that found nothing new
    bool step() {
        bool is_new = false;
        // Parts stand before what is made of them.
        node_has_.assign(rules_.nodes.size(), false);
        for (size_t i = 0; i < rules_.nodes.size(); ++i)
            node_has_[i] = std::visit([&](const auto& node) { return has(node); }, rules_.nodes[i]);
        for (size_t i = 0; i < rules_.rules.size(); ++i)
            if (!rule_has_[i] && node_has_[rules_.rules[i].body]) rule_has_[i] = is_new = true;
        return is_new;
    }
    bool has_text(RuleId rule) const { return rule_has_[rule]; }

private:
    bool has(const Literal&) const { return true; }
    bool has(const CharacterClass& characters) const { return !characters.ranges.empty(); }
    bool has(const Sequence& sequence) const {
        return std::all_of(sequence.parts.begin(), sequence.parts.end(),
                           [&](NodeId part) { return node_has_[part]; });
    }
    bool has(const Choice& choice) const {
        return std::any_of(choice.parts.begin(), choice.parts.end(),
                           [&](NodeId part) { return node_has_[part]; });
    }
    bool has(const Repetition& repetition) const {
        return repetition.least == 0 || node_has_[repetition.part];
    }
    bool has(const Reference& reference) const { return rule_has_[reference.rule]; }
    bool has(const Network& network) const {
        std::vector<uint32_t> reached;
        std::vector<bool> is_reached(network.states.size());
        const auto reach = [&](uint32_t state) {
            if (!is_reached[state]) reached.push_back(state);
            is_reached[state] = true;
        };
        if (!network.states.empty()) reach(0);
        while (!reached.empty()) {
            const Network::State& state = network.states[reached.back()];
            reached.pop_back();
            if (state.is_final) return true;
            for (const Network::Edge& edge : state.edges)
                if (node_has_[edge.part]) reach(edge.target);
        }
        return false;
    }

    const RuleSet& rules_;
    std::vector<bool> node_has_;
    std::vector<bool> rule_has_;
};

/// {"type": ..}
SchemaValue of_types(const std::vector<std::string>& names) {
    SchemaValue list{.kind = SchemaValue::Kind::kList, .text = {}, .items = {}, .keys = {}, .place = "type"};
    for (const std::string& name : names)
        list.items.push_back(
            {.kind = SchemaValue::Kind::kText, .text = name, .items = {}, .keys = {}, .place = "type"});
    return {.kind = SchemaValue::Kind::kObject, .text = {}, .items = {list}, .keys = {"type"}, .place = ""};
}

}  // namespace

RuleId SchemaReader::narrowed(const Conjunction& content, const SchemaValue& types) {
    Conjunction both = content;
    both.all.push_back(&types);
    (void)rule_of(both, "member");
    return rule_numbers_.at(both);
}

NodeId SchemaReader::bare_string(const Schemas& leaves, const TextAutomaton& allowed) {
    if (!types(leaves).contains("string")) return rules_.nothing();
    const auto texts = intersection(string_texts(leaves), allowed);
    if (!texts) fail(*leaves.front(), "has texts that take too many states", "leave its pattern out");
    return is_empty(*texts) ? rules_.nothing() : rules_.bare(*texts);
}

void SchemaReader::expect_given_alone(const Flat& flat, const std::vector<GivenMember>& given) {
    constexpr const char* kWhy = "is not supported where arguments are not written as JSON";
    if (!flat.lists.empty()) fail(*flat.lists.front(), kWhy, "write one object");
    for (const SchemaValue* schema : flat.leaves)
        for (const char* keyword : {"additionalProperties", "patternProperties", "unevaluatedProperties"})
            if (const SchemaValue* others = schema->find(keyword);
                others && others->is(SchemaValue::Kind::kObject))
                fail(*others, kWhy, "name the members in `properties`");
    const auto [least, most] = counts(flat.leaves, "minProperties", "maxProperties");
    const auto required = std::count_if(given.begin(), given.end(),
                                        [](const GivenMember& member) { return member.is_required; });
    if (least > required || (most && *most < static_cast<int64_t>(given.size())))
        fail(root_, "counts its members, which " + std::string(kWhy), "name them in `required`");
}

MemberRules SchemaReader::read_members(const BareTexts& bare) && {
    const Flat flat = flatten({{&root_}, {}});
    const std::vector<GivenMember> given = given_members(flat.leaves);
    expect_given_alone(flat, given);
    MemberRules result;
    for (const GivenMember& member : given)
        result.members.push_back({member.name, member.is_required, std::nullopt, std::nullopt});
    // A rule of each member, which is kept if it has any text.
    const auto add = [&](std::optional<RuleId> MemberRules::Member::*rule, auto&& schema_of) {
        for (size_t i = 0; i < given.size(); ++i)
            if (given[i].content)
                result.members[i].*rule = narrowed(*given[i].content, schema_of(result.members[i]));
        define_open();
        Productive made(rules_.rules());
        while (made.step()) spend(root_, rules_.rules().nodes.size());
        for (MemberRules::Member& member : result.members)
            if (member.*rule && !made.has_text(*(member.*rule))) (member.*rule).reset();
    };
    const SchemaValue others = of_types({"object", "array", "number", "boolean", "null"});
    add(&MemberRules::Member::json, [&](const auto&) -> const SchemaValue& { return others; });

    int64_t work = kPatternWork;
    const auto plain = difference(any_text(), texts_with_match(quoted(bare.mark), where_, "mark", work));
    const auto unlike = plain ? difference(*plain, json_values()) : std::nullopt;
    if (!unlike) fail(root_, "is of texts that take too many states");
    const SchemaValue string = of_types({"string"}), either = of_types({"string"});
    bare_ = {{&string, *plain}, {&either, *unlike}};
    add(&MemberRules::Member::text, [&](const MemberRules::Member& member) -> const SchemaValue& {
        return member.json && !bare.are_told_apart ? either : string;
    });
    for (const MemberRules::Member& member : result.members)
        if (member.is_required && !member.text && !member.json)
            fail(root_, fmt::format("requires the member {}, but allows no value of it", shown(member.name)));
    std::erase_if(result.members, [](const auto& member) { return !member.text && !member.json; });
    result.rules = rules_.take(rules_.literal(""));
    return result;
}

MemberRules member_rules(const SchemaValue& schema, const std::string& where, const BareTexts& bare,
                         const Limits& limits) {
    return SchemaReader(schema, where, limits).read_members(bare);
}

bool looks_like_json(std::string_view text) {
    static const TextAutomaton values = json_values();
    return matches(values, text);
}

}  // namespace tessera::grammar
