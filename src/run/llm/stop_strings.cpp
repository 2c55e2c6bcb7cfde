#include "run/llm/stop_strings.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::llm {

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (const std::string& string : strings_)
        if (string.empty()) throw Error("", "stop string", "is empty", "", ErrorKind::kUsage);
}

std::string StopStrings::push(std::string_view piece) {
    if (found_) return {};
    std::string text = std::exchange(held_, {});
    size_t end = text.size();
    text += piece;
    // Strings and the held text are short: each place is compared with each string.
    while (++end <= text.size()) {
        const std::string_view before(text.data(), end);
        size_t longest = 0;
        for (const std::string& string : strings_)
            if (before.ends_with(string)) longest = std::max(longest, string.size());
        if (longest == 0) continue;
        found_ = true;
        text.erase(end - longest);
        return text;
    }
    size_t held = 0;
    for (const std::string& string : strings_)
        for (size_t size = std::min(string.size() - 1, text.size()); size > held; --size)
            if (text.ends_with(std::string_view(string).substr(0, size))) held = size;
    held_ = text.substr(text.size() - held);
    text.erase(text.size() - held);
    return text;
}

std::string StopStrings::finish() {
    return std::exchange(held_, {});
}

}  // namespace tessera::llm
