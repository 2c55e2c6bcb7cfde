#include "cli/prompt_flags.h"

#include <CLI/CLI.hpp>

#include "cli/number_checks.h"
#include "cli/standard_streams.h"
#include "run/llm/token_ids_file.h"
#include "support/error.h"

namespace tessera::cli {

ChatSettings ChatFlags::settings() const {
    ChatSettings settings;
    if (think == "off") settings.thinks = false;
    settings.now = clock_that_stands();
    return settings;
}

void add_chat_flags(CLI::App& app, ChatFlags& flags) {
    app.add_option("--system", flags.system, "what the model is told before the conversation")
        ->type_name("TEXT");
    app.add_option("--chat-template", flags.chat_template,
                   "write conversations as this template in Jinja2's language says, not as the model's own")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--think", flags.think,
                   "thinking before an answer: show it, fold it into one line, or switch it off where the "
                   "model's template can (default show)")
        ->check(CLI::IsMember({"show", "fold", "off"}))
        ->type_name("HOW");
}

void add_prompt_flags(CLI::App& app, PromptFlags& flags) {
    auto* prompt = app.add_option("PROMPT,-p,--prompt", flags.prompt,
                                  "question to a model that follows instructions, or text to continue; - "
                                  "reads standard input")
                       ->type_name("TEXT");
    auto* file =
        app.add_option("-f,--file", flags.file, "read the prompt from a file; - reads standard input")
            ->excludes(prompt)
            ->check(not_empty())
            ->type_name("FILE");
    app.add_option("--ids", flags.ids,
                   "continue ids instead: a JSON list of them, or an object with one under prompt_ids")
        ->excludes(prompt)
        ->excludes(file)
        ->check(not_empty())
        ->type_name("IDS.json");
    app.add_flag("--raw", flags.raw,
                 "continue the prompt as it is: without it, the model's chat template, if it has one, makes "
                 "it a question");
    app.add_flag("--special", flags.special,
                 "special tokens that the prompt spells, such as <|im_start|>, become their ids; they are "
                 "text otherwise. As --raw");
    add_chat_flags(app, flags.chat);
}

std::string read_prompt_text(const std::optional<std::string>& prompt,
                             const std::optional<std::filesystem::path>& file) {
    if (file) return read_text_input(*file);
    return prompt.value_or("") == "-" ? read_standard_input() : prompt.value_or("");
}

Prompt read_prompt(const PromptFlags& flags, const ModelText& model_text, const std::string& model) {
    if (!flags.are_given())
        throw Error("", "", "a prompt is required: --prompt, --file or --ids",
                    "`-p -` reads the standard input, and `tessera chat` has conversations",
                    ErrorKind::kUsage);
    if (flags.ids) return {llm::read_prompt_ids(*flags.ids), {}};
    if (model_text.missing) throw Error(*model_text.missing);
    const std::string text = read_prompt_text(flags.prompt, flags.file);
    if (!flags.may_chat() || !model_text.chat) {
        if (flags.chat.system)
            throw Error(model, "--system",
                        flags.may_chat() ? "needs a chat template, which the model does not have"
                                         : "is part of a conversation, and --raw continues a text",
                        "", ErrorKind::kUsage);
        return {model_text.tokenizer->encode_prompt(text, flags.special), {}};
    }
    std::vector<ChatMessage> messages;
    if (flags.chat.system) messages.push_back({"system", *flags.chat.system});
    messages.push_back({"user", text});
    const ChatSettings settings = flags.chat.settings();
    return {model_text.chat->encode(*model_text.tokenizer, messages, settings),
            model_text.chat->turn_ends(*model_text.tokenizer, settings), true};
}

}  // namespace tessera::cli
