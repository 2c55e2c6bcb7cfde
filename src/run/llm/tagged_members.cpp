#include "run/llm/tagged_members.h"

#include <algorithm>

#include "run/grammar/member_rules.h"
#include "run/grammar/schema_value.h"
#include "run/llm/json_extent.h"
#include "run/llm/text_match.h"

namespace tessera::llm {
namespace {

using Reading = TaggedMember::State;

/// The text between name and value.
struct Before {
    size_t at = std::string_view::npos;
    size_t size = 0;
    bool is_text = false;
};

Before find_before(std::string_view text, const MemberTags& tags) {
    const Before string{text.find(tags.before_text), tags.before_text.size(), true};
    const Before other{text.find(tags.before_json), tags.before_json.size(), false};
    return string.at <= other.at ? string : other;
}

/// The value at the beginning of a text: its size without the end behind it; none before all of it has come.
std::optional<size_t> value_size(std::string_view text, bool is_string, const MemberTags& tags) {
    if (!is_string && !text.empty() && (text[0] == '{' || text[0] == '[')) {
        JsonExtent extent;
        const size_t size = extent.take(text);
        return extent.is_complete() ? std::optional(size) : std::nullopt;
    }
    const std::string_view mark = tags.mark();
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    // Blanks before the mark belong to the end.
    const size_t blanks = tags.end.find(mark);
    return at - std::min(at, blanks);
}

}  // namespace

TaggedMember read_member(std::string_view text, const MemberTags& tags,
                         const std::map<std::string, MemberKind>& kinds) {
    const std::string_view named = text.substr(tags.open.size());
    const Before before = find_before(named, tags);
    if (before.at == std::string_view::npos) return {};
    const std::string name(named.substr(0, before.at));
    const auto kind = kinds.find(name);
    if (kind == kinds.end()) return {.state = Reading::kNot};
    const std::string_view rest = named.substr(before.at + before.size);
    if (rest.empty()) return {};
    bool is_string = kind->second == MemberKind::kText;
    if (tags.tells_strings()) {
        is_string = before.is_text;
    } else if (kind->second == MemberKind::kEither) {
        const auto size = value_size(rest, true, tags);
        const bool has_parts = rest[0] == '{' || rest[0] == '[';
        if (!size && !has_parts) return {};
        is_string = !has_parts && !grammar::looks_like_json(rest.substr(0, *size));
    }
    const auto size = value_size(rest, is_string, tags);
    if (!size) return {};
    const Match end = match_text(rest.substr(*size), tags.end);
    if (end != Match::kWhole) return {.state = end == Match::kPartly ? Reading::kPartly : Reading::kNot};
    const std::string value(rest.substr(0, *size));
    return {.state = Reading::kWhole,
            .size = text.size() - rest.size() + *size + tags.end.size(),
            .json = grammar::json_string(name) + ": " + (is_string ? grammar::json_string(value) : value)};
}

}  // namespace tessera::llm
