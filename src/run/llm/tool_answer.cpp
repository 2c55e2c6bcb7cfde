#include "run/llm/tool_answer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "run/grammar/automaton.h"
#include "run/llm/answer_reader.h"
#include "run/llm/text_match.h"
#include "run/llm/tool_form.h"
#include "run/llm/tool_rules.h"

namespace tessera {

std::string tool_call_id(uint64_t number) {
    constexpr std::string_view kCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::string id;
    for (size_t i = 0; i < llm::kIdLength; ++i, number /= kCharacters.size())
        id += kCharacters[number % kCharacters.size()];
    return id;
}

}  // namespace tessera

namespace tessera::llm {
namespace {

/// Tokens at the end of a prompt that may open a block of thoughts.
constexpr size_t kLookedAt = 32;

bool ends_with_mark(const Tokenizer& tokenizer, std::span<const TokenId> prompt, const ThinkMarks& marks) {
    const std::string text = tokenizer.decode(prompt.last(std::min(prompt.size(), kLookedAt)));
    return std::string_view(text).substr(0, trimmed_size(text)).ends_with(marks.open);
}

}  // namespace

ToolAnswer tool_answer(const ChatTemplate& chat, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                       std::span<const Tool> tools, const ToolChoice& choice) {
    const ToolForm form = tool_form(chat, tokenizer);
    const auto* frame = std::get_if<CallFrame>(&form);
    const bool is_thinking =
        frame != nullptr && frame->thinking && ends_with_mark(tokenizer, prompt, *frame->thinking);
    ToolRules rules = tool_rules(form, tools, choice, is_thinking, tokenizer);
    std::optional<std::vector<TokenId>> ends = answer_ends(form, tokenizer);
    const bool past_end = ends.has_value();
    return {.grammar = Grammar(std::make_shared<const grammar::Automaton>(grammar::compile(rules.grammar))),
            .stop_ids = ends ? std::move(*ends) : chat.turn_ends(tokenizer, {}),
            .past_end = past_end,
            .reader = [form, is_thinking, kinds = std::move(rules.kinds)] {
                return answer_reader(form, is_thinking, kinds);
            }};
}

}  // namespace tessera::llm
