#include "cli/chat_commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/standard_streams.h"
#include "run/llm/conversation_file.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/near_names.h"
#include "support/note.h"

namespace tessera::cli {
namespace {

struct Call {
    Conversation& conversation;
    const std::string& model;
    std::string argument;
};

CommandResult help(const Call& call);

CommandResult exit(const Call&) {
    return CommandResult::kExit;
}

CommandResult clear(const Call& call) {
    call.conversation.clear();
    note("the conversation begins anew");
    return CommandResult::kDone;
}

CommandResult system(const Call& call) {
    if (call.argument.empty()) {
        const std::string told = call.conversation.system();
        note("{}", told.empty() ? "the model is told nothing before the conversation" : told);
        return CommandResult::kDone;
    }
    call.conversation.set_system(call.argument == "-" ? "" : call.argument);
    note("the model is told so from now on");
    return CommandResult::kDone;
}

CommandResult retry(const Call& call) {
    if (call.conversation.is_greedy())
        note("the answer stays the same: the most probable tokens are taken (--temperature draws others)");
    return call.conversation.retry() ? CommandResult::kDone : CommandResult::kFailed;
}

void refuse_no_file(const Call& call, std::string_view command) {
    if (call.argument.empty()) throw Error("", "", fmt::format("{} needs the name of a file", command));
}

CommandResult save(const Call& call) {
    refuse_no_file(call, "/save");
    write_file(call.argument, llm::print_conversation(call.model, call.conversation.messages()));
    note("saved {} messages in {}", call.conversation.messages().size(), call.argument);
    return CommandResult::kDone;
}

CommandResult load(const Call& call) {
    refuse_no_file(call, "/load");
    call.conversation.replace(llm::read_conversation(call.argument));
    note("the conversation has {} messages", call.conversation.messages().size());
    return CommandResult::kDone;
}

CommandResult stats(const Call& call) {
    const GenerateStatistics& s = call.conversation.statistics();
    const auto rate = [](int64_t count, double seconds) {
        return seconds > 0 ? static_cast<double>(count) / seconds : 0;
    };
    note("prompt: {} tokens in {:.3f} s, {:.1f} tokens/s; {} were known", s.prompt_tokens, s.prompt_seconds,
         rate(s.prompt_tokens, s.prompt_seconds), s.reused_tokens);
    note("answer: {} tokens in {:.3f} s, {:.1f} tokens/s", s.decode_steps, s.decode_seconds,
         rate(s.decode_steps, s.decode_seconds));
    return CommandResult::kDone;
}

/// Maps the names that other tools use to those of this one.
std::string_view own_name(std::string_view name) {
    if (name == "/bye" || name == "/quit") return "/exit";
    return name == "/?" ? "/help" : name;
}

struct Command {
    std::string_view name;
    std::string_view argument;
    std::string_view help;
    CommandResult (*run)(const Call&);
};

constexpr Command kCommands[] = {
    {"/help", "", "lists the commands", help},
    {"/clear", "", "forgets the conversation, but not what the model is told before it", clear},
    {"/system", "TEXT", "tells the model something before the conversation; - nothing; shows it without TEXT",
     system},
    {"/retry", "", "makes another answer to the last message", retry},
    {"/save", "FILE", "writes the conversation into a file", save},
    {"/load", "FILE", "goes on with the conversation of a file", load},
    {"/stats", "", "says how long the last answer took", stats},
    {"/exit", "", "ends the program, as /bye, /quit and the end of the input do", exit},
};

CommandResult help(const Call&) {
    for (const Command& command : kCommands)
        note("{:<14} {}", fmt::format("{} {}", command.name, command.argument), command.help);
    note("{:<14} {}", "//...", "says something that begins with a slash");
    note("{:<14} {}", "...\\", "goes on in the next line");
    note("{:<14} {}", "Ctrl-C", "ends an answer; pressed twice, or without an answer, the program");
    return CommandResult::kDone;
}

}  // namespace

CommandResult run_command(std::string_view line, Conversation& conversation, const std::string& model) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string name(own_name(line.substr(0, end)));
    std::string_view argument = line.substr(end);
    argument.remove_prefix(std::min(argument.find_first_not_of(" \t"), argument.size()));
    argument = argument.substr(0, argument.find_last_not_of(" \t\r") + 1);
    std::vector<std::string> names;
    for (const Command& command : kCommands) {
        if (command.name != name) {
            names.emplace_back(command.name);
            continue;
        }
        try {
            return command.run({conversation, model, std::string(argument)});
        } catch (const Error& error) {
            note("{}", error.what());
            return CommandResult::kFailed;
        }
    }
    const std::vector<std::string> near = near_names(name, names);
    note("there is no command {}{}; /help lists all", name,
         near.empty() ? "" : fmt::format(", did you mean {}", near.front()));
    return CommandResult::kFailed;
}

}  // namespace tessera::cli
