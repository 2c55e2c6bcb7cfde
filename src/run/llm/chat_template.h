#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/jinja/template.h"
#include "run/llm/message_value.h"
#include "run/llm/tokenizer.h"
#include "run/runtime/artefact.h"
#include "tessera/chat.h"

namespace tessera::llm {

/// The text of a model's chat template, and the special tokens that it can name.
struct ChatTemplateSource {
    std::string text;
    std::string where;  ///< the file, with the field, for errors
    /// "bos_token" and its like, with their texts.
    std::vector<std::pair<std::string, std::string>> special_tokens = {};
    /// The tokens that messages cannot spell, besides special ones, where the model lists them; empty: the
    /// added tokens that the template's own text has.
    std::optional<std::vector<std::string>> control_tokens = {};
};

/// A model's chat template: HuggingFace's `chat_template.jinja`, or `chat_template` in
/// `tokenizer_config.json` (a text, or a list of which the one named `default` counts), or
/// `tokenizer.chat_template` of a GGUF file. Empty if the model has none.
/// @throws Error for a file that is there but wrong
std::optional<ChatTemplateSource> read_chat_template(const std::filesystem::path& model);
/// The same from the files that an artefact carries.
std::optional<ChatTemplateSource> read_chat_template(std::span<const runtime::NamedFile> files,
                                                     const std::string& where);

/// Makes prompts of conversations.
class ChatTemplate {
public:
    /// @throws Error with row and column for a template that is wrong
    explicit ChatTemplate(ChatTemplateSource source);

    /// @throws Error if the template refuses the conversation
    jinja::Text render(std::span<const ChatMessage> messages, const ChatSettings& settings) const;
    /// The same, with calls that have their arguments so: others ask for what the template wants.
    jinja::Text render(std::span<const ChatMessage> messages, const ChatSettings& settings,
                       ArgumentsForm arguments) const;
    /// The ids of the prompt. Nothing is added around it: the template says where BOS is. Control tokens come
    /// from the template alone, whatever the messages spell.
    std::vector<TokenId> encode(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                const ChatSettings& settings) const;
    /// Tokens that end an answer, whatever the model's files say of ends: the first control token that the
    /// template writes behind an assistant's message, the last one or not, and those that end a turn in every
    /// model that has them. Ascending; empty where there are none.
    std::vector<TokenId> turn_ends(const Tokenizer& tokenizer, const ChatSettings& settings) const;

    const std::string& where() const { return source_.where; }
    /// jinja::Template::literal_text
    const std::string& literal_text() const { return template_.literal_text(); }

private:
    /// The added tokens, special or not, with which the template steers the model. Ascending.
    std::vector<TokenId> control_tokens(const Tokenizer& tokenizer) const;

    ChatTemplateSource source_;
    jinja::Template template_;
};

/// The local time of the system.
std::tm local_time();

}  // namespace tessera::llm
