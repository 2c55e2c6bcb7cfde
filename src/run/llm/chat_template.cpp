#include "run/llm/chat_template.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <string_view>
#include <unordered_set>

#include "run/llm/tool_form.h"
#include "run/llm/turn_end_texts.h"
#include "run/llm/utf8.h"
#include "support/error.h"

// A conversation becomes a prompt in three steps. The template renders a text that remembers which bytes came
// from messages. The tokenizer reads that text as a whole, since words go on across the ends of messages, but
// takes special tokens from the bytes of the template alone.
//
//     template   <|im_start|>user\n{{ content }}<|im_end|>\n
//     content    1<|im_end|>2
//     text       <|im_start|>user\n1<|im_end|>2<|im_end|>\n
//     foreign                      ------------
//     ids        [im_start] "user" "\n" "1" "<" "|" "im" ... "2" [im_end] "\n"

namespace tessera::llm {
namespace {

/// The assistant's answer in the conversation whose text shows how an answer ends.
constexpr std::string_view kAnswer = "b";

bool is_space(std::string_view text) {
    while (!text.empty()) {
        const Utf8Step step = first_character(text);
        if (!is_white_space(step.code_point)) return false;
        text.remove_prefix(step.length);
    }
    return true;
}

/// The texts of the tokens that occur in `text`, white space excepted, which templates have as ordinary text.
/// There may be many tokens, of few lengths.
std::unordered_set<std::string> texts_within(std::span<const AddedToken> tokens, std::string_view text) {
    std::unordered_set<std::string_view> sought;
    std::set<size_t> lengths;
    for (const AddedToken& token : tokens)
        if (!is_space(token.content) && sought.insert(token.content).second)
            lengths.insert(token.content.size());
    std::unordered_set<std::string> found;
    for (const size_t length : lengths)
        for (size_t at = 0; at + length <= text.size(); ++at)
            if (sought.contains(text.substr(at, length))) found.emplace(text.substr(at, length));
    return found;
}

}  // namespace

std::tm local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    return parts;
}

ChatTemplate::ChatTemplate(ChatTemplateSource source)
    : source_(std::move(source)), template_(jinja::Template::parse(source_.text, source_.where)) {}

jinja::Text ChatTemplate::render(std::span<const ChatMessage> messages, const ChatSettings& settings) const {
    const bool has_calls = std::any_of(messages.begin(), messages.end(),
                                       [](const ChatMessage& one) { return !one.tool_calls.empty(); });
    return render(messages, settings, has_calls ? arguments_form(*this) : ArgumentsForm::kObject);
}

jinja::Text ChatTemplate::render(std::span<const ChatMessage> messages, const ChatSettings& settings,
                                 ArgumentsForm arguments) const {
    using jinja::Value;
    std::vector<Value> tools;
    for (const Tool& tool : settings.tools) tools.push_back(tool_value(tool));
    jinja::Variables variables = {{"messages", Value::list(message_values(messages, arguments))},
                                  {"tools", tools.empty() ? Value::none() : Value::list(std::move(tools))},
                                  {"documents", Value::none()},
                                  {"add_generation_prompt", Value::of(settings.begins_answer)}};
    if (settings.thinks) variables.emplace_back("enable_thinking", Value::of(*settings.thinks));
    for (const auto& [name, text] : source_.special_tokens) variables.emplace_back(name, Value::text(text));
    return template_.render(variables, {.now = settings.now ? settings.now : local_time});
}

std::vector<TokenId> ChatTemplate::control_tokens(const Tokenizer& tokenizer) const {
    const std::unordered_set<std::string> listed =
        source_.control_tokens
            ? std::unordered_set<std::string>(source_.control_tokens->begin(), source_.control_tokens->end())
            : texts_within(tokenizer.added_tokens(), template_.literal_text());
    std::vector<TokenId> ids;
    for (const AddedToken& token : tokenizer.added_tokens())
        if (token.special || listed.contains(token.content)) ids.push_back(token.id);
    return ids;
}

std::vector<TokenId> ChatTemplate::encode(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                          const ChatSettings& settings) const {
    const jinja::Text text = render(messages, settings);
    std::vector<TextRange> foreign;
    for (const jinja::ByteRange& range : text.foreign()) foreign.push_back({range.begin, range.end});
    return tokenizer.encode(text.bytes(), {.foreign = foreign, .control = control_tokens(tokenizer)});
}

std::vector<TokenId> ChatTemplate::turn_ends(const Tokenizer& tokenizer, const ChatSettings& settings) const {
    const std::vector<TokenId> control = control_tokens(tokenizer);
    ChatSettings whole = settings;
    whole.begins_answer = false;
    std::set<TokenId> ends;
    // Looks at the text between an answer and the next message.
    const auto look_behind = [&](const std::vector<ChatMessage>& messages) {
        jinja::Text text;
        try {
            text = render(messages, whole);
        } catch (const Error&) {
            return;  // a template may ask for more than these messages; the prompt itself will say so
        }
        const auto foreign = text.foreign();
        for (size_t i = foreign.size(); i-- > 0;) {
            if (text.bytes().substr(foreign[i].begin, foreign[i].end - foreign[i].begin) != kAnswer) continue;
            const size_t end = i + 1 < foreign.size() ? foreign[i + 1].begin : text.bytes().size();
            for (const TokenId id :
                 tokenizer.encode(text.bytes().substr(foreign[i].end, end - foreign[i].end)))
                if (std::binary_search(control.begin(), control.end(), id)) {
                    ends.insert(id);
                    return;
                }
            return;
        }
    };
    look_behind({{"user", "a"}, {"assistant", std::string(kAnswer)}});
    look_behind({{"user", "a"}, {"assistant", std::string(kAnswer)}, {"user", "c"}});
    for (const AddedToken& token : tokenizer.added_tokens())
        if (ends_a_turn(token.content)) ends.insert(token.id);
    return {ends.begin(), ends.end()};
}

}  // namespace tessera::llm
