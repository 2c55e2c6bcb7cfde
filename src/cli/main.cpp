#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/environment.h"
#include "cli/flag_variables.h"
#include "cli/other_tools.h"
#include "cli/standard_streams.h"
#include "cli/verb.h"
#include "support/error.h"
#include "support/near_names.h"
#include "support/note.h"

namespace tessera::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

/// In the order of --help.
std::vector<Verb> verbs() {
    return {run_verb(),        chat_verb(),       serve_verb(),        compile_verb(),    retarget_verb(),
            check_verb(),      logits_verb(),     verify_verb(),       perplexity_verb(), embed_verb(),
            bench_verb(),      inspect_verb(),    explain_verb(),      tokenize_verb(),   machine_verb(),
            cache_verb(),      completion_verb(), architecture_verb(), op_verb(),         opt_verb(),
            nest_verb(),       price_verb(),      schedule_verb(),     tiles_verb(),      tune_verb(),
            distribute_verb(), extract_verb(),    chip_verb()};
}

std::string footer(const std::vector<std::string>& examples) {
    std::string text = "Examples:\n";
    for (const std::string& example : examples) text += "  " + example + "\n";
    text.pop_back();
    return text;
}

int complain(const std::string& verb, const std::string& problem, int code) {
    const std::string caller = verb.empty() ? "tessera" : "tessera " + verb;
    note("{}: {}", caller, problem);
    if (code == kWrongUsage) note("See `{} --help`.", caller);
    return code;
}

/// Output is buffered: a full disk shows only here, and must not look like success.
int finish(const std::string& verb, int code) {
    if (flush_standard_output()) return code;
    return complain(verb, "cannot write to the standard output", kFailed);
}

std::string with_advice(const std::string& problem, const std::string& advice) {
    return advice.empty() ? problem : fmt::format("{} ({})", problem, advice);
}

/// The fault of the word after `tessera`: CLI11 would call an unknown verb an unexpected argument, and an
/// unknown flag a missing verb.
std::string first_word_problem(const std::vector<Verb>& known, int argc, char** argv) {
    if (argc < 2) return "a verb is required";
    const std::string word = argv[1];
    if (word.starts_with('-'))
        return word == "--help" || word == "-h" || word == "--version"
                   ? ""
                   : with_advice(fmt::format("unknown flag `{}`", word), advice_on_first_word(word));
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const Verb& verb) { return verb.name == word; });
    if (is_known) return "";
    std::vector<std::string> names;
    for (const Verb& verb : known) names.push_back(verb.name);
    if (const auto near = near_names(word, names); !near.empty())
        return fmt::format("there is no verb `{}` (perhaps `{}`)", word, near.front());
    return with_advice(fmt::format("there is no verb `{}`", word), advice_on_first_word(word));
}

/// CLI11 calls an option by one of its long names, though it was given as -n or as an argument.
std::string with_all_names(CLI::App& verb, std::string problem) {
    for (const CLI::Option* option : verb.get_options()) {
        const std::string start = option->get_name() + ": ";
        if (!problem.starts_with(start)) continue;
        const std::string argument = option->get_name(true, false);
        if (!option->get_lnames().empty() && !argument.empty() && argument.front() != '-')
            return argument + ": " + problem.substr(start.size());
        if (!option->get_snames().empty() && !option->get_lnames().empty())
            return fmt::format("-{},--{}: {}", option->get_snames().front(), option->get_lnames().front(),
                               problem.substr(start.size()));
    }
    return problem;
}

int run_job(const std::string& verb, const Job& job) {
    try {
        return finish(verb, job());
    } catch (const Error& error) {
        return complain(verb, error.what(), error.kind == ErrorKind::kUsage ? kWrongUsage : kFailed);
    } catch (const std::bad_alloc&) {
        return complain(verb, "out of memory", kFailed);
    } catch (const std::exception& error) {
        // Output beyond the buffer fails in fmt::print, whose error does not name the destination.
        if (std::ferror(stdout) != 0) return finish(verb, kFailed);
        return complain(verb, error.what(), kFailed);
    }
}

int run(int argc, char** argv) {
    const Environment environment = read_environment();
    const std::vector<Verb> known = verbs();

    CLI::App app("Compiles transformer checkpoints to native code for a machine that is described by data.",
                 "tessera");
    app.set_version_flag("--version", "tessera " TESSERA_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    std::vector<std::string> first_examples;
    std::vector<Job> jobs;
    for (const Verb& verb : known) {
        TESSERA_CHECK(!verb.examples.empty(), "verb {}", verb.name);
        CLI::App* subcommand = app.add_subcommand(verb.name, verb.help);
        subcommand->footer(footer(verb.examples));
        jobs.push_back(verb.declare(*subcommand, environment));
        first_examples.push_back(verb.examples.front());
    }
    app.footer(footer(first_examples));

    if (const std::string problem = first_word_problem(known, argc, argv); !problem.empty())
        return complain("", problem, kWrongUsage);
    const auto chosen = [&] {
        const auto parsed = app.get_subcommands();
        return parsed.empty() ? std::string() : parsed.front()->get_name();
    };
    // The variables of this verb alone: CLI11 would complain about those of verbs that were not called.
    const auto called = app.get_subcommands([&](CLI::App* verb) { return verb->get_name() == argv[1]; });
    for (CLI::App* verb : called) name_variables(*verb);
    if (const std::string foreign = misread_flag({argv + 2, argv + argc}); !foreign.empty())
        return complain(argv[1], foreign, kWrongUsage);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return finish(chosen(), app.exit(error));  // --help, --version
        if (const std::string foreign = foreign_flag({argv + 2, argv + argc}); !foreign.empty())
            return complain(chosen(), foreign, kWrongUsage);
        const std::string variable = called.empty() ? "" : rejected_variable(*called.front());
        const std::string problem =
            called.empty() ? error.what() : with_all_names(*called.front(), error.what());
        return complain(chosen(), variable.empty() ? problem : variable + ": " + problem, kWrongUsage);
    }
    for (size_t i = 0; i < known.size(); ++i)
        if (known[i].name == chosen()) return run_job(known[i].name, jobs[i]);
    return complain("", "a verb is required", kWrongUsage);
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
    tessera::cli::prepare_standard_streams();
    return tessera::cli::run(argc, argv);
}
