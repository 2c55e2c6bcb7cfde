#include "run/llm/think_split.h"

#include <algorithm>
#include <utility>

#include "run/llm/text_match.h"

namespace tessera::llm {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
void add_events(std::vector<AnswerEvent>& events, std::vector<ThinkSplit::Part> parts) {
    for (ThinkSplit::Part& part : parts)
        if (!part.text.empty())
            events.push_back(
                {.kind = part.is_thought ? AnswerEvent::Kind::kThought : AnswerEvent::Kind::kText,
                 .text = std::move(part.text)});
}

}  // namespace

std::vector<ThinkSplit::Part> ThinkSplit::push(std::string_view text) {
    std::vector<Part> parts;
    held_ += text;
    while (true) {
        const std::string_view mark = is_inside_ ? kClose : kOpen;
        const size_t at = held_.find(mark);
        const bool found = at != std::string::npos;
        const size_t known = found ? at : held_.size() - begun_at_end(held_, mark);
        std::string_view part = std::string_view(held_).substr(0, known);
        if (is_inside_) {
            if (found || !part.empty())
                parts.push_back({.is_thought = true, .ends_thought = found, .text = std::string(part)});
        } else {
            if (skips_space_) part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
            if (!part.empty()) {
                skips_space_ = false;
                parts.push_back({.text = std::string(part)});
            }
        }
        held_.erase(0, known + (found ? mark.size() : 0));
        if (!found) return parts;
        skips_space_ = is_inside_;
        is_inside_ = !is_inside_;
    }
}

std::vector<ThinkSplit::Part> ThinkSplit::finish() {
    std::string rest = std::exchange(held_, {});
    if (rest.empty() && !is_inside_) return {};
    return {{.is_thought = is_inside_, .text = std::move(rest)}};
}

std::vector<AnswerEvent> ThinkReader::divide(const std::vector<AnswerEvent>& events) {
    std::vector<AnswerEvent> result;
    for (const AnswerEvent& event : events) {
        if (event.kind == AnswerEvent::Kind::kText) {
            add_events(result, split_.push(event.text));
        } else {
            add_events(result, split_.finish());
            result.push_back(event);
        }
    }
    return result;
}

std::vector<AnswerEvent> ThinkReader::push(std::string_view piece) {
    if (calls_) return divide(calls_->push(piece));
    return divide({{.kind = AnswerEvent::Kind::kText, .text = std::string(piece)}});
}

std::vector<AnswerEvent> ThinkReader::finish() {
    std::vector<AnswerEvent> events;
    if (calls_) events = divide(calls_->finish());
    add_events(events, split_.finish());
    return events;
}

bool ends_in_thinking(std::string_view prompt) {
    return prompt.substr(0, trimmed_size(prompt)).ends_with(kOpen);
}

}  // namespace tessera::llm
