#include "run/llm/text_match.h"

#include <algorithm>
#include <cctype>

#include "run/llm/tool_form.h"

namespace tessera::llm {

Match match_text(std::string_view text, std::string_view wanted) {
    const size_t size = std::min(text.size(), wanted.size());
    for (size_t i = 0; i < size; ++i) {
        const bool is_alike = wanted[i] == kIdCharacter
                                  ? std::isalnum(static_cast<unsigned char>(text[i])) != 0
                                  : wanted[i] == text[i];
        if (!is_alike) return Match::kNot;
    }
    return size == wanted.size() ? Match::kWhole : Match::kPartly;
}

size_t begun_at_end(std::string_view text, std::string_view mark) {
    if (mark.empty()) return 0;
    for (size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size)
        if (text.ends_with(mark.substr(0, size))) return size;
    return 0;
}

size_t trimmed_size(std::string_view text) {
    const size_t last = text.find_last_not_of(kBlanks);
    return last == std::string_view::npos ? 0 : last + 1;
}

}  // namespace tessera::llm
