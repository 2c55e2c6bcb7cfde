#include "llm/think_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tessera::llm {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

/// How much of the end of a text may begin `mark`.
size_t begun(std::string_view text, std::string_view mark) {
    for (size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size)
        if (text.ends_with(mark.substr(0, size))) return size;
    return 0;
}

}  // namespace

ThinkView::ThinkView(bool folds, bool begins_inside, std::function<void(std::string_view)> show)
    : folds_(folds), is_inside_(begins_inside), show_(std::move(show)) {}

void ThinkView::push(std::string_view text) {
    if (!folds_) return show_(text);
    held_ += text;
    while (true) {
        const std::string_view mark = is_inside_ ? kClose : kOpen;
        const size_t at = held_.find(mark);
        const bool found = at != std::string::npos;
        const size_t known = found ? at : held_.size() - begun(held_, mark);
        std::string_view part = std::string_view(held_).substr(0, known);
        if (is_inside_) {
            folded_ += part.size();
        } else {
            if (skips_space_) part.remove_prefix(std::min(part.find_first_not_of(" \n\r\t"), part.size()));
            if (!part.empty()) {
                skips_space_ = false;
                show_(part);
            }
        }
        held_.erase(0, known + (found ? mark.size() : 0));
        if (!found) return;
        if (is_inside_) {
            show_(fmt::format("[thought, {} bytes]\n", std::exchange(folded_, 0)));
            skips_space_ = true;
        }
        is_inside_ = !is_inside_;
    }
}

void ThinkView::finish() {
    if (!folds_) return;
    if (is_inside_)
        show_(fmt::format("[thought, {} bytes, without an end]", folded_ + held_.size()));
    else
        show_(held_);
    held_.clear();
}

bool ends_in_thinking(std::string_view prompt) {
    while (!prompt.empty() && std::string_view(" \n\r\t").find(prompt.back()) != std::string_view::npos)
        prompt.remove_suffix(1);
    return prompt.ends_with(kOpen);
}

}  // namespace tessera::llm
