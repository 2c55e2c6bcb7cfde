#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "run/grammar/regular_expression.h"
#include "run/grammar/schema_branches.h"
#include "run/grammar/schema_formats.h"
#include "run/grammar/schema_reader.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

/// A bound of real numbers as a reader sees it: the nearest double. A text at or beyond this one is read as a
/// double within the bound, since rounding keeps the order.
Decimal double_within(const SchemaValue& bound, bool is_low, bool is_open) {
    const std::string& text = bound.text;
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    const double inside = is_low ? HUGE_VAL : -HUGE_VAL;
    // Integers have up to 64 bits, more than a double has.
    const auto exact = decimal_of(text), rounded = decimal_of(fmt::format("{}", value));
    const auto order = compare(*rounded, *exact);
    if ((is_low ? order < 0 : order > 0) || (is_open && order == 0)) value = std::nextafter(value, inside);
    return decimal_of(fmt::format("{}", value)).value_or(*exact);
}

/// The work of limiting the lengths of texts, for each state.
constexpr size_t kLengthWork = 100;

struct Bound {
    const char* keyword;
    bool is_low;
    bool is_open;
};
constexpr Bound kBounds[] = {{"minimum", true, false},
                             {"exclusiveMinimum", true, true},
                             {"maximum", false, false},
                             {"exclusiveMaximum", false, true}};

void tighten(NumberTexts& wanted, const Decimal& value, bool is_low, bool is_open) {
    std::optional<Decimal>& bound = is_low ? wanted.low : wanted.high;
    bool& bound_is_open = is_low ? wanted.is_low_open : wanted.is_high_open;
    const auto order = bound ? compare(value, *bound) : std::strong_ordering::equal;
    if (bound && (is_low ? order < 0 : order > 0)) return;
    bound_is_open = bound && order == 0 ? bound_is_open || is_open : is_open;
    bound = value;
}

}  // namespace

void SchemaReader::spend(const SchemaValue& at, size_t work) {
    work_ -= static_cast<int64_t>(work);
    if (work_ < 0)
        fail(at,
             "is one too many: what the schema combines, its patterns, formats and ranges take too much work "
             "in all",
             "leave some out");
}

const TextAutomaton& SchemaReader::matching(const std::string& pattern, const SchemaValue& at) {
    const auto [known, is_new] = patterns_.try_emplace(pattern);
    if (is_new) known->second = texts_with_match(pattern, where_, shown(at.place), work_);
    return known->second;
}

const TextAutomaton* SchemaReader::formatted(const SchemaValue& format) {
    const auto found = find_format(format.text);
    return found && found->kind == SchemaFormat::Kind::kText ? &matching(found->pattern, format) : nullptr;
}

/// The texts that all patterns and formats allow; none if there are no patterns or formats.
std::optional<TextAutomaton> SchemaReader::pattern_texts(const Schemas& leaves) {
    std::optional<TextAutomaton> result;
    const auto join = [&](const TextAutomaton& texts, const SchemaValue& at) {
        auto both = result ? intersection(*result, texts) : std::optional(texts);
        spend(at, texts.states.size() + (both ? both->states.size() : 0));
        if (!both) fail(at, "takes too many states beside the other patterns", "leave it out");
        result = *std::move(both);
    };
    for (const SchemaValue* schema : leaves) {
        if (const SchemaValue* pattern = schema->find("pattern"))
            join(matching(expect(*pattern, Kind::kText, "a regular expression").text, *pattern), *pattern);
        if (const SchemaValue* format = schema->find("format"))
            if (const TextAutomaton* texts = formatted(*format)) join(*texts, *format);
    }
    return result;
}

/// The texts with this number of characters. If that takes too many states, longer ones are left out.
std::optional<TextAutomaton> SchemaReader::limited(TextAutomaton texts, int64_t least,
                                                   std::optional<int64_t> most) {
    if ((least == 0 && !most) || is_empty(texts)) return texts;
    const auto [shortest, longest] = lengths(texts);
    if (shortest >= least) least = 0;
    if (longest && most && *longest <= *most) most.reset();
    if (least == 0 && !most) return texts;
    while (true) {
        if (auto result = intersection(texts, texts_of_length(least, most))) return result;
        if (!most || *most / 2 < std::max<int64_t>(least, 1)) return std::nullopt;
        *most /= 2;
    }
}

TextAutomaton SchemaReader::string_texts(const Schemas& leaves) {
    const auto [least, most] = counts(leaves, "minLength", "maxLength");
    TextAutomaton texts = pattern_texts(leaves).value_or(any_text());
    for (const SchemaValue* schema : leaves)
        if (fixed_values(*schema) != nullptr) {
            std::vector<std::string> listed;
            for (const SchemaValue& item : listed_values(*schema))
                if (item.is(Kind::kText)) listed.push_back(item.text);
            const auto given = these_texts(listed);
            const auto both = given ? intersection(texts, *given) : std::nullopt;
            if (!both) fail(*schema, "lists texts that take too many states", "list fewer");
            texts = *both;
        }
    const auto allowed = limited(std::move(texts), least, most);
    if (!allowed) fail(*leaves.front(), "has a length that takes too many states", "leave it out");
    return *allowed;
}

NodeId SchemaReader::string(const Schemas& leaves) {
    const auto [least, most] = counts(leaves, "minLength", "maxLength");
    const SchemaValue& at = *leaves.front();
    if (most && least > *most) return nothing(leaves, at, "has a maxLength below its minLength");
    const auto texts = pattern_texts(leaves);
    if (!texts) return least == 0 && !most ? rules_.string() : rules_.string(least, most);
    // Equal strings are one rule, wherever they are.
    const auto [known, is_new] = string_rules_.try_emplace({*texts, least, most});
    if (!is_new) return rules_.call(known->second);
    if (least > 0 || most) spend(at, texts->states.size() * kLengthWork);
    const auto allowed = limited(*texts, least, most);
    if (!allowed)
        fail(at, "has a length beside its pattern or format that takes too many states", "leave one out");
    if (is_empty(*allowed)) return nothing(leaves, at, "has no text of that pattern, format and length");
    known->second = rules_.declare("text", where_);
    rules_.define(known->second, rules_.string_of(*allowed));
    return rules_.call(known->second);
}

bool SchemaReader::narrow(NumberTexts& wanted, const SchemaValue& schema, bool are_whole) const {
    bool is_narrower = false;
    const auto number = [&](const SchemaValue& value) -> const SchemaValue& {
        if (!value.is_number() || !decimal_of(value.text))
            fail(value, fmt::format("is {}, expected a number", shown(value.json())));
        return value;
    };
    for (const Bound& bound : kBounds) {
        const SchemaValue* value = schema.find(bound.keyword);
        if (value == nullptr) continue;
        bool is_open = bound.is_open;
        if (is_open && value->is(Kind::kBoolean)) continue;  // of `minimum`, as OpenAPI 3.0 writes it
        if (!is_open) {
            const SchemaValue* open = schema.find(bound.is_low ? "exclusiveMinimum" : "exclusiveMaximum");
            is_open = open != nullptr && open->is_true();
        }
        is_narrower = true;
        if (are_whole)
            tighten(wanted, *decimal_of(number(*value).text), bound.is_low, is_open);
        else
            tighten(wanted, double_within(number(*value), bound.is_low, is_open), bound.is_low, false);
    }
    if (const SchemaValue* format = schema.find("format"))
        if (const auto found = find_format(format->text);
            found && found->kind == SchemaFormat::Kind::kInteger) {
            is_narrower = true;
            tighten(wanted, *decimal_of(found->low), true, false);
            tighten(wanted, *decimal_of(found->high), false, false);
        }
    if (const SchemaValue* factor = schema.find("multipleOf")) {
        is_narrower = true;
        wanted.factor = decimal_of(number(*factor).text);
        if (wanted.factor->is_negative || wanted.factor->digits.empty())
            fail(*factor, fmt::format("is {}, expected a number above 0", shown(factor->json())));
    }
    return is_narrower;
}

NodeId SchemaReader::number(const Schemas& leaves, bool are_whole) {
    NumberTexts wanted{.are_whole = are_whole};
    bool is_narrower = false;
    std::optional<TextAutomaton> texts;
    for (const SchemaValue* schema : leaves) {
        is_narrower = narrow(wanted, *schema, are_whole) || is_narrower;
        if (!wanted.factor) continue;
        // Each factor by itself.
        spend(*schema, kMostTextStates);
        auto of_factor =
            number_texts({.are_whole = are_whole, .factor = std::exchange(wanted.factor, std::nullopt)});
        if (of_factor && texts) of_factor = intersection(*texts, *of_factor);
        if (!of_factor)
            fail(*schema->find("multipleOf"), "takes too many states", "write one of up to four digits");
        texts = *std::move(of_factor);
    }
    if (!is_narrower) return are_whole ? rules_.integer() : rules_.number();
    auto allowed = number_texts(wanted);
    if (allowed && texts) allowed = intersection(*texts, *allowed);
    const SchemaValue& at = *leaves.front();
    if (!allowed) fail(at, "has bounds that take too many states beside multipleOf", "leave one out");
    if (is_empty(*allowed))
        return nothing(
            leaves, at, are_whole ? "allows no integer" : "allows no number",
            fmt::format("none of up to {} digits before the point is within its bounds", kMostWholeDigits));
    return rules_.bare(*allowed);
}

}  // namespace tessera::grammar
