#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_text.h"
#include "tessera/chat.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// The flags of `run` and `chat` for conversations.
struct ChatFlags {
    std::optional<std::string> system;
    std::filesystem::path chat_template;
    std::string think = "show";  ///< show, fold or off

    ChatSettings settings() const;
};

/// --system, --chat-template and --think.
void add_chat_flags(CLI::App& app, ChatFlags& flags);

/// The prompt of `run`.
struct PromptFlags {
    std::optional<std::string> prompt;
    std::optional<std::filesystem::path> file;
    std::optional<std::filesystem::path> ids;
    bool special = false;
    bool raw = false;
    ChatFlags chat;

    bool are_given() const { return prompt || file || ids; }
    /// True if a chat template is used where there is one.
    bool may_chat() const { return !raw && !special && !ids; }
};

/// --prompt, --file, --ids, --special, --raw, and those of a conversation.
void add_prompt_flags(CLI::App& app, PromptFlags& flags);

/// The text of --prompt or --file; "-" is the standard input.
std::string read_prompt_text(const std::optional<std::string>& prompt,
                             const std::optional<std::filesystem::path>& file);

struct Prompt {
    std::vector<TokenId> ids;
    std::vector<TokenId> ends;  ///< end the answer, besides the model's own ends of a text
    bool is_chat = false;
};

/// @throws Error if there is no prompt, or the model cannot read it
Prompt read_prompt(const PromptFlags& flags, const ModelText& text, const std::string& model);

}  // namespace tessera::cli
