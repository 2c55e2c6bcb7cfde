#include "run/llm/json_extent.h"

#include <utility>

namespace tessera::llm {

size_t JsonExtent::take(std::string_view text) {
    for (size_t i = 0; i < text.size() && !is_complete_; ++i) {
        const char c = text[i];
        if (std::exchange(is_escaped_, false)) continue;
        if (is_string_) {
            is_escaped_ = c == '\\';
            is_string_ = c != '"';
        } else if (c == '"') {
            is_string_ = true;
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else if (c == '}' || c == ']') {
            depth_ -= depth_ > 0 ? 1 : 0;
            is_complete_ = depth_ == 0;
        }
        if (is_complete_) return i + 1;
    }
    return is_complete_ ? 0 : text.size();
}

}  // namespace tessera::llm
