#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/standard_input.h"
#include "cli/verb.h"
#include "llm/load_tokenizer.h"
#include "llm/sample.h"
#include "llm/token_ids_file.h"
#include "runtime/artefact.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

constexpr int64_t kDefaultTokens = 128;

struct Options {
    std::filesystem::path model;
    std::optional<std::string> prompt;
    std::optional<std::filesystem::path> ids;
    bool special = false;
    std::optional<int64_t> tokens;
    int64_t context = 0;
    std::vector<std::string> stop;
    SamplingOptions sampling;
};

/// Positions to set memory aside for: those that the prompt and the wanted tokens take, within what is
/// allowed.
int64_t needed_context(const ModelFile& model, int64_t prompt, const Options& options) {
    const int64_t largest = model.context();
    if (options.context > largest) return options.context;  // refused by the session
    const int64_t allowed = options.context == 0 ? largest : options.context;
    // The last token of the text takes no position: nothing is computed after it.
    const int64_t needed = prompt + options.tokens.value_or(kDefaultTokens) - 1;
    if (needed > allowed && options.tokens && prompt <= allowed)
        throw Error(
            model.name(), "",
            fmt::format("{} tokens after a prompt of {} do not fit into the context of {}", *options.tokens,
                        prompt, allowed),
            allowed < largest ? fmt::format("--context can be up to {}", largest) : "choose a smaller -n");
    return std::max<int64_t>(1, std::min(needed, allowed));
}

double rate(int64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void print_statistics(const GenerateStatistics& s) {
    fmt::print(stderr, "prompt: {} tokens in {:.3f} s, {:.1f} tokens/s\n", s.prompt_tokens, s.prompt_seconds,
               rate(s.prompt_tokens, s.prompt_seconds));
    if (s.decode_steps > 0)
        fmt::print(stderr, "text:   {} tokens in {:.3f} s, {:.1f} tokens/s\n", s.decode_steps,
                   s.decode_seconds, rate(s.decode_steps, s.decode_seconds));
}

void print_workers(const WorkerStatistics& s) {
    if (s.workers == 1) return;
    fmt::print(stderr, "workers: {}{}, {:.1f} barriers a step\n", s.workers,
               s.lacks_processors ? " (more than there are processors)" : "",
               rate(s.barriers, static_cast<double>(s.steps)));
}

/// `encode(text)`: with the tokenizer of the model, which must be there for ids, too.
std::vector<TokenId> read_prompt(const Options& options, const auto& encode) {
    if (!options.prompt && !options.ids)
        throw Error("", "", "a prompt is required: --prompt or --ids", "", ErrorKind::kUsage);
    const std::string text =
        options.prompt.value_or("") == "-" ? read_standard_input() : options.prompt.value_or("");
    std::vector<TokenId> encoded = encode(text);
    return options.ids ? read_prompt_ids(*options.ids) : encoded;
}

struct Prepared {
    ModelFile model;
    std::vector<TokenId> prompt;
};

/// A missing tokenizer and a wrong prompt are found before a model is compiled for minutes.
Prepared prepare(const Options& options, const Environment& environment) {
    const std::filesystem::path path = resolve_model(options.model, environment);
    if (std::filesystem::is_regular_file(path) && is_artefact(path)) {
        const ModelFile model(path);
        return {model, read_prompt(options, [&](const std::string& text) {
                    return model.encode(text, options.special);
                })};
    }
    const Tokenizer tokenizer = load_tokenizer(path);
    std::vector<TokenId> prompt = read_prompt(
        options, [&](const std::string& text) { return tokenizer.encode_prompt(text, options.special); });
    const int64_t length = static_cast<int64_t>(prompt.size()) + options.tokens.value_or(0);
    return {open_model(path, std::max(options.context, length), environment), std::move(prompt)};
}

int run(const Options& options, const Environment& environment) {
    check(options.sampling);
    const auto [file, prompt] = prepare(options, environment);
    const ModelSettings settings{.context =
                                     needed_context(file, static_cast<int64_t>(prompt.size()), options)};
    announce_model(file, settings);
    Model model(file, settings);

    const InterruptWatch interrupt;
    bool ends_line = false;
    const auto write = [&](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
        ends_line = text.ends_with('\n');
    };
    const Generation result = model.generate(prompt, {.max_tokens = options.tokens.value_or(kDefaultTokens),
                                                      .sampling = options.sampling,
                                                      .stop_strings = options.stop,
                                                      .should_stop = [&] { return interrupt.interrupted(); },
                                                      .on_text = write});
    if (!ends_line) write("\n");
    if (result.reason == StopReason::kContext)
        fmt::print(stderr, "stopped: the context of {} tokens is full (see --context)\n", model.context());
    if (result.reason == StopReason::kInterrupted) fmt::print(stderr, "stopped: interrupted\n");
    print_statistics(result.statistics);
    print_workers(model.worker_statistics());
    return result.reason == StopReason::kInterrupted ? kInterruptedExitCode : 0;
}

void declare_prompt(CLI::App& app, Options& options) {
    auto* prompt = app.add_option("-p,--prompt", options.prompt, "text to continue; - reads standard input")
                       ->type_name("TEXT");
    app.add_option("--ids", options.ids,
                   "continue ids instead: a JSON list of them, or an object with one under prompt_ids")
        ->excludes(prompt)
        ->type_name("IDS.json");
    app.add_flag("--special", options.special,
                 "special tokens that the prompt spells, such as <|im_start|>, become their ids; they are "
                 "text otherwise");
}

void declare_limits(CLI::App& app, Options& options) {
    app.add_option(
           "-n,--tokens", options.tokens,
           fmt::format("most tokens to generate (default {}, or what the context leaves)", kDefaultTokens))
        ->check(positive_count())
        ->type_name("N");
    app.add_option("--context", options.context,
                   "most tokens of prompt and text together (default: what they need)")
        ->check(positive_count())
        ->type_name("N");
    app.add_option("--stop", options.stop, "end before this text; may be repeated")
        ->allow_extra_args(false)
        ->type_name("TEXT");
}

void declare_sampling(CLI::App& app, SamplingOptions& sampling) {
    auto* temperature =
        app.add_option("--temperature", sampling.temperature,
                       "draw tokens by their probability at this temperature (default 0: always the most "
                       "probable)")
            ->check(number_or_zero())
            ->type_name("T");
    const auto of_drawing = [&](const char* flag, auto& value, const char* help) {
        return app.add_option(flag, value, help)->needs(temperature);
    };
    of_drawing("--top-k", sampling.top_k, "draw from the K most probable only (default 0: from all)")
        ->check(count_or_zero())
        ->type_name("K");
    of_drawing("--top-p", sampling.top_p,
               "draw from the fewest that together have the probability P only (default 1)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("P");
    of_drawing("--min-p", sampling.min_p,
               "draw from those with at least P times the largest probability only (default 0)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("P");
    of_drawing("--seed", sampling.seed, "another seed, another text (default 0)")->type_name("N");
    auto* penalty = app.add_option("--repeat-penalty", sampling.repetition_penalty,
                                   "make tokens that have occurred less probable; 1.1 is usual (default 1)")
                        ->check(positive_number())
                        ->type_name("X");
    app.add_option("--repeat-window", sampling.repetition_window,
                   fmt::format("they have occurred if they are among the last N (default {})",
                               sampling.repetition_window))
        ->needs(penalty)
        ->check(count_or_zero())
        ->type_name("N");
}

}  // namespace

Verb run_verb() {
    return {.name = "run",
            .help = "continue a text with a model",
            .examples = {"tessera run -p \"12 + 34 =\"",
                         "tessera run models/Qwen3-0.6B -p \"Once upon a time\" -n 64 --temperature 0.8 "
                         "--top-p 0.95 --seed 1",
                         "tessera run OUT.tsr --special -p - --stop \"User:\" < prompt.txt",
                         "tessera run OUT.tsr --ids prompt.json --context 4096"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<Options>();
                add_model_argument(app, options->model);
                declare_prompt(app, *options);
                declare_limits(app, *options);
                declare_sampling(app, options->sampling);
                return [options, &environment] { return run(*options, environment); };
            }};
}

}  // namespace tessera::cli
