#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/chat_commands.h"
#include "cli/conversation.h"
#include "cli/grammar_flags.h"
#include "cli/limit_flags.h"
#include "cli/line_editor.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/prompt_flags.h"
#include "cli/remark.h"
#include "cli/sampling_flags.h"
#include "cli/verb.h"
#include "run/llm/conversation_file.h"
#include "support/error.h"
#include "support/note.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

struct ChatArguments {
    std::filesystem::path model;
    std::optional<std::string> prompt;
    std::optional<std::filesystem::path> file;
    std::optional<std::filesystem::path> load;
    ChatFlags chat;
    LimitFlags limits;
    FirstUse first_use;
    bool no_prefix_reuse = false;
    SamplingFlags sampling;
    GrammarFlags grammar;
};

/// Messages from the standard input: a line, and those after it while a backslash ends them.
class Messages {
public:
    Messages() {
        if (LineEditor::is_possible()) editor_.emplace();
    }

    std::optional<std::string> next() {
        std::string message;
        for (bool is_first = true;; is_first = false) {
            std::optional<std::string> line = next_line(is_first ? "> " : ". ");
            if (!line) return is_first ? std::nullopt : std::optional(message);
            if (line->ends_with('\r')) line->pop_back();
            const bool goes_on = line->ends_with('\\');
            if (goes_on) line->pop_back();
            message += *line;
            if (!goes_on) return message;
            message += '\n';
        }
    }

private:
    std::optional<std::string> next_line(const char* prompt) {
        if (editor_) return editor_->read(prompt);
        std::string line;
        if (!std::getline(std::cin, line)) return std::nullopt;
        return line;
    }

    std::optional<LineEditor> editor_;
};

/// Everything that is said, until the input ends. False where something failed.
bool talk(Conversation& conversation, const ChatArguments& options, const std::string& model) {
    bool all_well = true;
    if (options.prompt || options.file)
        all_well = conversation.say(read_prompt_text(options.prompt, options.file));
    Messages messages;
    while (const auto message = messages.next()) {
        if (message->find_first_not_of(" \t\n") == std::string::npos) continue;
        if (message->starts_with('/') && !message->starts_with("//")) {
            const CommandResult result = run_command(*message, conversation, model);
            if (result == CommandResult::kExit) return all_well;
            all_well = all_well && result == CommandResult::kDone;
            continue;
        }
        all_well = conversation.say(message->starts_with("//") ? message->substr(1) : *message) && all_well;
    }
    if (LineEditor::is_possible()) note("");
    return all_well;
}

int run(const ChatArguments& options, const Environment& environment) {
    const std::optional<Grammar> grammar = options.grammar.read();
    const std::filesystem::path path = resolve_model(options.model, environment);
    const ModelText text = read_model_text(path, true, options.chat.chat_template);
    if (text.missing) throw Error(*text.missing);
    if (!text.chat)
        throw Error(path.string(), "", "has no chat template: it continues texts, and answers nobody",
                    "`tessera run` continues a text; --chat-template FILE gives it a template");
    const SamplingOptions sampling = options.sampling.decided(text.sampling, usual_of_conversations());
    const ModelFile file = open_model(path, options.limits.context, environment, options.first_use);
    if (file.processes() > 1)
        throw Error(path.string(), "", "is shared by several processes, which do not chat yet",
                    "start it without mpirun: its ranks are then threads of one process");
    const ModelSettings settings{.context = options.limits.context};
    announce_model(file, settings);
    announce_sampling(sampling, text.sampling, Remarks::all());
    Model model(file, settings);
    if (options.sampling.is_seed_drawn) note("seed: {}", sampling.seed);

    const AnswerSettings how{.chat = options.chat.settings(),
                             .sampling = sampling,
                             .tokens = most_tokens(options.limits, std::nullopt),
                             .stop = options.limits.stop,
                             .grammar = grammar,
                             .folds_thinking = options.chat.think == "fold",
                             .reuse_prefix = !options.no_prefix_reuse};
    Conversation conversation(model, text, how);
    if (options.load) conversation.replace(llm::read_conversation(*options.load));
    if (options.chat.system) conversation.set_system(*options.chat.system);
    note("{}: /help lists commands, /exit or Ctrl-D ends", printable(file.name()));
    return talk(conversation, options, file.name()) ? 0 : 1;
}

void declare_answers(CLI::App& app, ChatArguments& options) {
    add_first_use_flags(app, options.first_use);
    add_limit_flags(app, options.limits,
                    "most tokens of one answer (default, and -1: what the context leaves)",
                    "most tokens of the conversation (default: as many as the compiled model allows)");
    app.add_flag("--no-prefix-reuse", options.no_prefix_reuse,
                 "read the whole conversation again for every answer: the same text, only later");
}

}  // namespace

Verb chat_verb() {
    return {
        .name = "chat",
        .help = "talk with a model that follows instructions",
        .examples = {"tessera chat SmolLM2-135M-Instruct.gguf",
                     "tessera chat -m OUT.tsr --system \"Answer in one sentence.\" --temp 0.7 --top-p 0.9",
                     "tessera chat OUT.tsr --load talk.json --think fold",
                     "printf 'Hello!\\nWhat did I say?\\n' | tessera chat OUT.tsr"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<ChatArguments>();
            add_model_argument(app, options->model);
            auto* prompt =
                app.add_option("PROMPT,-p,--prompt", options->prompt, "say this first")->type_name("TEXT");
            app.add_option("-f,--file", options->file, "say the text of a file first")
                ->excludes(prompt)
                ->check(not_empty())
                ->type_name("FILE");
            app.add_option("--load", options->load, "go on with a conversation that /save wrote")
                ->check(not_empty())
                ->type_name("FILE");
            add_chat_flags(app, options->chat);
            declare_answers(app, *options);
            add_sampling_flags(app, options->sampling, usual_of_conversations());
            add_grammar_flags(app, options->grammar);
            return [options, &environment] { return run(*options, environment); };
        }};
}

}  // namespace tessera::cli
