#include "run/llm/tag_form.h"

#include <algorithm>
#include <cstring>
#include <string>

// Two members show where one ends and the next begins:
//
//     >\n<parameter=probe_key>\nprobe_value\n</parameter>\n<parameter=other_key>\nother_value\n</parameter>\n</function>
//     first                   before       step                          before       last
//
// The text that `first` and `step` end with alike, from a tag on, opens a member. The rest of `step` ends
// one, and `last` must begin with it, too.

namespace tessera::llm {
namespace {

constexpr const char* kOtherKey = "other_key";
constexpr const char* kOtherValue = "other_value";
constexpr const char* kProbeNumber = "70707";

/// The texts around parts that come in this order; none if one of them is not there.
std::optional<std::vector<std::string>> around(std::string_view text, const std::vector<const char*>& parts) {
    std::vector<std::string> texts;
    for (const char* part : parts) {
        const size_t at = text.find(part);
        if (at == std::string_view::npos) return std::nullopt;
        texts.emplace_back(text.substr(0, at));
        text.remove_prefix(at + std::strlen(part));
    }
    texts.emplace_back(text);
    return texts;
}

/// The end of `first` that `step` ends with, too, from a tag on; empty if there is none.
std::string opening(std::string_view first, std::string_view step) {
    const auto differ = std::mismatch(first.rbegin(), first.rend(), step.rbegin(), step.rend()).first;
    const std::string_view alike = first.substr(static_cast<size_t>(first.rend() - differ));
    const size_t tag = alike.find_first_of("<[");
    return tag == std::string_view::npos ? std::string() : std::string(alike.substr(tag));
}

}  // namespace

std::optional<MemberTags> find_tags(const TaggedCalls& calls) {
    const auto one = around(calls.one, {kProbeKey, kProbeValue});
    const auto two = around(calls.two, {kProbeKey, kProbeValue, kOtherKey, kOtherValue});
    const auto number = around(calls.number, {kProbeKey, kProbeNumber});
    const auto list = around(calls.list, {kProbeKey, kProbeNumber});
    if (!one || !two || !number || !list) return std::nullopt;
    const std::string &first = (*one)[0], &before = (*one)[1], &last = (*one)[2], &step = (*two)[2];
    MemberTags tags{
        .open = opening(first, step), .before_text = before, .before_json = (*number)[1], .end = {}};
    if (tags.open.empty() || tags.open.size() >= step.size()) return std::nullopt;
    tags.end = step.substr(0, step.size() - tags.open.size());
    const std::string_view mark = tags.mark();
    // The mark of an end must not begin inside of itself, nor what opens a member be taken for a call's end.
    const bool is_plain = !mark.empty() && (mark.front() == '<' || mark.front() == '[') &&
                          mark.find(mark.front(), 1) == std::string_view::npos && !before.empty() &&
                          !tags.before_json.empty();
    const bool is_alike =
        (*two)[0] == first && (*two)[1] == before && (*two)[3] == before && (*two)[4] == last &&
        (*number)[0] == first && (*number)[2] == last && (*list)[1] == tags.before_json + "[" &&
        (*list)[2] == "]" + last && last.starts_with(tags.end) &&
        calls.none == first.substr(0, first.size() - tags.open.size()) + last.substr(tags.end.size());
    if (!is_plain || !is_alike) return std::nullopt;
    return tags;
}

}  // namespace tessera::llm
