#include "run/llm/text_stream.h"

#include <utility>

namespace tessera::llm {

TextStream::TextStream(Tokenizer tokenizer, std::vector<std::string> stop_strings, bool at_start)
    : tokenizer_(std::move(tokenizer)),
      holds_last_(tokenizer_.decoder().depends_on_last()),
      at_start_(at_start),
      stop_(std::move(stop_strings)) {
    if (!at_start) return;
    for (const StripFront& strip : tokenizer_.decoder().front) front_.emplace_back(strip);
}

std::string TextStream::push(TokenId id) {
    if (!tokenizer_.has_text(id)) return {};
    if (!holds_last_) return push_token(id, false);
    const std::optional<TokenId> before = std::exchange(last_, id);
    return before ? push_token(*before, false) : "";
}

std::string TextStream::decode(TokenId id, bool last) {
    return tokenizer_.token_bytes(id, {.first = std::exchange(at_start_, false), .last = last});
}

std::string TextStream::push_token(TokenId id, bool last) {
    std::string bytes = decode(id, last);
    for (FrontStripper& stripper : front_) bytes = stripper.push(bytes, tokenizer_.is_byte(id));
    return characters_.push(stop_.push(bytes));
}

std::string TextStream::finish() {
    std::string front = last_ ? push_token(*std::exchange(last_, std::nullopt), true) : "";
    std::string bytes;
    for (FrontStripper& stripper : front_) {
        bytes = stripper.push(bytes);
        bytes += stripper.finish();
    }
    std::string rest = stop_.push(bytes);
    rest += stop_.finish();
    std::string text = std::move(front) + characters_.push(rest);
    text += characters_.finish();
    return text;
}

}  // namespace tessera::llm
