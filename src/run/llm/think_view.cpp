#include "run/llm/think_view.h"

#include <utility>

#include <fmt/format.h>

namespace tessera::llm {

ThinkView::ThinkView(bool folds, bool begins_inside, std::function<void(std::string_view)> show)
    : folds_(folds), split_(begins_inside), show_(std::move(show)), is_inside_(begins_inside) {}

void ThinkView::show_parts(const std::vector<ThinkSplit::Part>& parts) {
    for (const ThinkSplit::Part& part : parts) {
        is_inside_ = part.is_thought && !part.ends_thought;
        if (part.is_thought)
            folded_ += part.text.size();
        else
            show_(part.text);
        if (part.ends_thought) show_(fmt::format("[thought, {} bytes]\n", std::exchange(folded_, 0)));
    }
}

void ThinkView::push(std::string_view text) {
    if (!folds_) return show_(text);
    show_parts(split_.push(text));
}

void ThinkView::finish() {
    if (!folds_) return;
    show_parts(split_.finish());
    if (is_inside_) show_(fmt::format("[thought, {} bytes, without an end]", folded_));
}

}  // namespace tessera::llm
