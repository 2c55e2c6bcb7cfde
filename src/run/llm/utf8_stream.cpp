#include "run/llm/utf8_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

/// True if further bytes can complete `tail` to a character: some continuation bytes must make it valid. It
/// suffices to try the smallest and the largest, since overlong forms lie below, and surrogates and too large
/// code points above.
bool is_unfinished(std::string_view tail) {
    for (const char filling : {'\x80', '\xbf'}) {
        std::string filled(tail);
        while (filled.size() < 4) {
            filled += filling;
            const Utf8Step step = first_character(filled);
            if (step.valid && step.length == filled.size()) return true;
        }
    }
    return false;
}

/// Bytes at the end of `text` that may be the beginning of a character.
size_t unfinished_bytes(std::string_view text) {
    for (size_t count = std::min<size_t>(3, text.size()); count > 0; --count) {
        const std::string_view tail = text.substr(text.size() - count);
        // If a valid character comes first, the unfinished one begins later.
        if (!first_character(tail).valid && is_unfinished(tail)) return count;
    }
    return 0;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
    std::string text = std::exchange(held_, {});
    text += bytes;
    const size_t count = unfinished_bytes(text);
    held_ = text.substr(text.size() - count);
    text.erase(text.size() - count);
    return text;
}

std::string Utf8Stream::finish() {
    return std::exchange(held_, {});
}

}  // namespace tessera::llm
