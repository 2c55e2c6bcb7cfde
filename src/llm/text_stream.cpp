#include "llm/text_stream.h"

#include <utility>

namespace tessera::llm {

TextStream::TextStream(Tokenizer tokenizer, std::vector<std::string> stop_strings, bool at_start)
    : tokenizer_(std::move(tokenizer)), stop_(std::move(stop_strings)) {
    if (!at_start) return;
    for (const StripFront& strip : tokenizer_.decoder().front) front_.emplace_back(strip);
}

std::string TextStream::push(TokenId id) {
    if (id < 0 || static_cast<size_t>(id) >= tokenizer_.vocabulary_size()) return {};
    std::string bytes = tokenizer_.token_bytes(id);
    for (FrontStripper& stripper : front_) bytes = stripper.push(bytes);
    return characters_.push(stop_.push(bytes));
}

std::string TextStream::finish() {
    std::string bytes;
    for (FrontStripper& stripper : front_) {
        bytes = stripper.push(bytes);
        bytes += stripper.finish();
    }
    std::string rest = stop_.push(bytes);
    rest += stop_.finish();
    std::string text = characters_.push(rest);
    text += characters_.finish();
    return text;
}

}  // namespace tessera::llm
