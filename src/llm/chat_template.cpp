#include "llm/chat_template.h"

#include <ctime>

#include "llm/message_value.h"
#include "support/error.h"

// A conversation becomes a prompt in three steps. The template makes a text of it, which remembers the bytes
// that messages gave. The tokenizer reads that text as a whole, since words go on across the ends of
// messages, but takes special tokens from the bytes of the template alone.
//
//     template   <|im_start|>user\n{{ content }}<|im_end|>\n
//     content    1<|im_end|>2
//     text       <|im_start|>user\n1<|im_end|>2<|im_end|>\n
//     foreign                      ------------
//     ids        [im_start] "user" "\n" "1" "<" "|" "im" ... "2" [im_end] "\n"

namespace tessera::llm {

std::tm local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    return parts;
}

ChatTemplate::ChatTemplate(ChatTemplateSource source)
    : source_(std::move(source)), template_(jinja::Template::parse(source_.text, source_.where)) {}

jinja::Text ChatTemplate::render(std::span<const ChatMessage> messages, const ChatSettings& settings) const {
    using jinja::Value;
    std::vector<Value> list;
    for (const ChatMessage& message : messages) list.push_back(message_value(message));
    jinja::Variables variables = {{"messages", Value::list(std::move(list))},
                                  {"tools", Value::none()},
                                  {"documents", Value::none()},
                                  {"add_generation_prompt", Value::of(settings.begins_answer)}};
    if (settings.thinks) variables.emplace_back("enable_thinking", Value::of(*settings.thinks));
    for (const auto& [name, text] : source_.special_tokens) variables.emplace_back(name, Value::text(text));
    return template_.render(variables, {.now = settings.now ? settings.now : local_time});
}

std::vector<TokenId> ChatTemplate::encode(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                          const ChatSettings& settings) const {
    const jinja::Text text = render(messages, settings);
    std::vector<TextRange> foreign;
    for (const jinja::ByteRange& range : text.foreign()) foreign.push_back({range.begin, range.end});
    return tokenizer.encode(text.bytes(), {.foreign = foreign});
}

std::vector<TokenId> ChatTemplate::turn_ends(const Tokenizer& tokenizer, const ChatSettings& settings) const {
    ChatSettings whole = settings;
    whole.begins_answer = false;
    const std::vector<ChatMessage> messages = {{"user", "a"}, {"assistant", "b"}};
    jinja::Text text;
    try {
        text = render(messages, whole);
    } catch (const Error&) {
        return {};  // a template may ask for more than these messages; the prompt itself will say so
    }
    if (text.foreign().empty()) return {};
    const std::string rest = text.bytes().substr(text.foreign().back().end);
    const std::vector<TokenId> ids = tokenizer.encode(rest);
    if (ids.empty() || !tokenizer.is_special(ids.front())) return {};
    return {ids.front()};
}

}  // namespace tessera::llm
