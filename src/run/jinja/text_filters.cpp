#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/json_text.h"
#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

// Filters that make texts.

namespace tessera::jinja {
namespace {

template <Case wanted>
Value cased_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "upper", given, {});
    return context.make(with_case(context, to_text(context, input), wanted));
}

/// For filters that take nothing but texts.
const Text& only_text(Context& context, const Value& input, std::string_view filter) {
    refuse_undefined(context, input);
    if (input.text() == nullptr)
        context.fail(fmt::format("`{}` is for texts, not for {}", filter, described(input)));
    return *input.text();
}

Value center_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "center", given, {"width"});
    return context.make(
        justified(context, to_text(context, input), bound.integer_or(0, 80), Text(" "), Ends::kBoth));
}

Value format_filter(Context& context, const Value& input, const Arguments& given) {
    if (!given.named.empty()) context.fail("`format` with named values is not supported");
    return format_percent(context, to_text(context, input), given.positional);
}

Value indent_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "indent", given, {"width", "first", "blank"});
    const bool has_text = bound.has(0) && bound.at(0).text() != nullptr;
    Text space = has_text ? bound.text_or(0, "") : Text();
    if (!has_text) {
        const int64_t width = std::max<int64_t>(bound.integer_or(0, 4), 0);
        context.allocate(static_cast<size_t>(width));
        space.append(std::string(static_cast<size_t>(width), ' '));
    }
    const bool indents_blank = bound.boolean_or(2, false);
    // A line feed is added, so that the last one counts as the beginning of a line.
    Text whole = only_text(context, input, "indent");
    whole.append("\n");
    Text result;
    if (bound.boolean_or(1, false)) result.append(space);
    const std::vector<Text> lines = split_lines(context, whole, false);
    for (size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) {
            result.append("\n");
            if (indents_blank || !lines[i].empty()) result.append(space);
        }
        context.allocate(space.size() + lines[i].size());
        result.append(lines[i]);
    }
    return context.make(std::move(result));
}

Value replace_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "replace", given, {"old", "new", "count"});
    const int64_t count = bound.has(2) && !bound.at(2).is_none() ? bound.integer_or(2, -1) : -1;
    return context.make(replaced(context, to_text(context, input), to_text(context, bound.at(0)),
                                 to_text(context, bound.at(1)), count));
}

Value string_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "string", given, {});
    return context.make(to_text(context, input));
}

Value title_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "title", given, {});
    return context.make(title_of_words(context, to_text(context, input)));
}

Value trim_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "trim", given, {"chars"});
    std::optional<Text> characters;
    if (bound.has(0) && !bound.at(0).is_none()) characters = bound.text_or(0, "");
    return context.make(stripped(context, to_text(context, input), Ends::kBoth, characters));
}

Value truncate_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "truncate", given, {"length", "killwords", "end", "leeway"});
    const int64_t length = bound.integer_or(0, 255);
    const Text end = bound.text_or(2, "...");
    const int64_t end_length = count_characters(end.bytes());
    const int64_t leeway = bound.has(3) && !bound.at(3).is_none() ? bound.integer_or(3, 5) : 5;
    if (length < end_length || leeway < 0) context.fail("`truncate` needs a length that its end fits into");
    const Text text = input.is_undefined() ? Text() : only_text(context, input, "truncate");
    const std::vector<size_t> offsets = character_offsets(text.bytes());
    const int64_t count = static_cast<int64_t>(offsets.size()) - 1;
    if (count - leeway <= length) return context.make(text);
    Text kept = text.slice(0, offsets[static_cast<size_t>(length - end_length)]);
    if (!bound.boolean_or(1, false)) {
        const size_t space = kept.bytes().rfind(' ');
        if (space != std::string::npos) kept = kept.slice(0, space);
    }
    return context.make(kept.append(end));
}

/// As `transformers` defines it: nothing is escaped for HTML, and keys keep their order.
Value tojson_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "tojson", given,
                               {"ensure_ascii", "indent", "separators", "sort_keys"});
    JsonForm form;
    form.ascii = bound.boolean_or(0, false);
    form.sorts_keys = bound.boolean_or(3, false);
    if (bound.has(1) && !bound.at(1).is_none()) {
        form.is_indented = true;
        form.item_separator = Text(",");
        if (bound.at(1).text() != nullptr) {
            form.indent = *bound.at(1).text();
        } else {
            const int64_t width = std::clamp<int64_t>(bound.integer_or(1, 0), 0, 1000);
            form.indent = Text(std::string(static_cast<size_t>(width), ' '));
        }
    }
    if (bound.has(2) && !bound.at(2).is_none()) {
        const std::vector<Value> separators = iterate(context, bound.at(2));
        if (separators.size() != 2 || separators[0].text() == nullptr || separators[1].text() == nullptr)
            context.fail("`separators` of `tojson` are two texts");
        form.item_separator = *separators[0].text();
        form.key_separator = *separators[1].text();
    }
    return context.make(to_json(context, input, form));
}

}  // namespace

const std::vector<NamedFilter>& text_filters() {
    static const std::vector<NamedFilter> filters = {
        {"capitalize", cased_filter<Case::kCapitalize>},
        {"center", center_filter},
        {"format", format_filter},
        {"indent", indent_filter},
        {"lower", cased_filter<Case::kLower>},
        {"replace", replace_filter},
        {"safe", string_filter},
        {"string", string_filter},
        {"title", title_filter},
        {"tojson", tojson_filter},
        {"trim", trim_filter},
        {"truncate", truncate_filter},
        {"upper", cased_filter<Case::kUpper>},
    };
    return filters;
}

}  // namespace tessera::jinja
