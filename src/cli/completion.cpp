#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/number_checks.h"
#include "cli/verb.h"

namespace tessera::cli {
namespace {

/// A verb, perhaps of two words (`cache list`), with its flags.
struct Words {
    std::string verb;
    std::vector<std::string> verbs;  ///< that may follow
    std::vector<std::string> flags;
};

/// All verbs of the tool as they are declared, so that there is no list of them.
void add_words(const std::string& before, const CLI::App& app, std::vector<Words>& all) {
    Words words{before, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
        for (const std::string& name : option->get_snames()) words.flags.push_back("-" + name);
    }
    const size_t own = all.size();
    all.push_back({});
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        words.verbs.push_back(verb->get_name());
        add_words(before.empty() ? verb->get_name() : before + " " + verb->get_name(), *verb, all);
    }
    all[own] = std::move(words);
}

/// Verbs first, then flags; anything else is a file.
std::string bash_script(const std::vector<Words>& all) {
    std::string script =
        "_tessera() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} verbs= flags=\n"
        "    local first=$([ \"$COMP_CWORD\" -gt 1 ] && echo \"${COMP_WORDS[1]}\")\n"
        "    local second=$([ \"$COMP_CWORD\" -gt 2 ] && echo \"${COMP_WORDS[2]}\")\n";
    const auto assign = [](const Words& words) {
        return fmt::format("verbs='{}' flags='{}'", fmt::join(words.verbs, " "), fmt::join(words.flags, " "));
    };
    for (const Words& words : all) {
        const bool has_two = words.verb.find(' ') != std::string::npos;
        script += fmt::format("    [ \"{}\" = '{}' ] && {}\n", has_two ? "$first $second" : "$first",
                              words.verb, assign(words));
    }
    return script +
           "    case $word in\n"
           "        -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
           "        *) COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\")) ;;\n"
           "    esac\n"
           "}\n"
           "complete -o default -F _tessera tessera\n";
}

std::string script_of(const std::string& shell, const CLI::App& tool) {
    std::vector<Words> all;
    add_words("", tool, all);
    return shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(all)
                          : bash_script(all);
}

}  // namespace

Verb completion_verb() {
    return {
        .name = "completion",
        .help = "print a script by which a shell completes verbs and flags",
        .examples = {"tessera completion bash >> ~/.bash_completion", "tessera completion zsh >> ~/.zshrc"},
        .declare = [](CLI::App& app, const Environment&) -> Job {
            const auto shell = std::make_shared<std::string>();
            app.add_option("SHELL", *shell, "bash or zsh")
                ->required()
                ->check(not_empty())
                ->check(CLI::IsMember({"bash", "zsh"}));
            return [shell, &app] {
                const std::string script = script_of(*shell, *app.get_parent());
                std::fwrite(script.data(), 1, script.size(), stdout);
                return 0;
            };
        }};
}

}  // namespace tessera::cli
