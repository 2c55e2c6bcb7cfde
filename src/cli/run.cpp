#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/open_model.h"
#include "cli/verb.h"
#include "llm/generate.h"
#include "llm/language_model.h"
#include "llm/load_tokenizer.h"
#include "machine/probe.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

constexpr int64_t kDefaultTokens = 128;

struct Options {
    std::filesystem::path model;
    std::string prompt;
    std::optional<int64_t> tokens;
    int64_t context = 0;
};

/// A missing tokenizer is found before a model is compiled for minutes.
Tokenizer tokenizer_of(const std::filesystem::path& path) {
    if (std::filesystem::is_regular_file(path) && is_artefact(path)) {
        const Artefact artefact = Artefact::open(path);
        return load_tokenizer(artefact.tokenizer(), artefact.where());
    }
    return load_tokenizer(path);
}

/// Positions to set memory aside for: those that the prompt and the wanted tokens take, within what is
/// allowed.
int64_t needed_context(const Manifest& manifest, int64_t prompt, const Options& options) {
    const int64_t largest = StepInterface(manifest).context;
    if (options.context > largest) return options.context;  // refused by the session
    const int64_t allowed = options.context == 0 ? largest : options.context;
    // The last token of the text takes no position: nothing is computed after it.
    const int64_t needed = prompt + options.tokens.value_or(kDefaultTokens) - 1;
    if (needed > allowed && options.tokens && prompt <= allowed)
        throw Error(
            manifest.model, "",
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

void print_workers(const LoadedProgram& program) {
    if (program.workers() == 1) return;
    fmt::print(stderr, "workers: {}{}, {:.1f} barriers a step\n", program.workers(),
               program.lacks_processors() ? " (more than there are processors)" : "",
               rate(program.barriers(), static_cast<double>(program.steps())));
}

int run(const Options& options, const Environment& environment) {
    const std::filesystem::path path = resolve_model(options.model, environment);
    const Tokenizer tokenizer = tokenizer_of(path);
    const auto prompt = static_cast<int64_t>(tokenizer.encode(options.prompt, {.add_special = true}).size());
    const auto artefact =
        open_model(path, std::max(options.context, prompt + options.tokens.value_or(0)), environment);
    const Manifest& manifest = artefact->manifest();
    LanguageModel model(artefact, host_features(), {.context = needed_context(manifest, prompt, options)});

    GenerateOptions generate_options{.max_tokens = options.tokens.value_or(kDefaultTokens)};
    if (manifest.text) generate_options.stop = manifest.text->eos;
    bool ends_line = false;
    const auto write = [&](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
        ends_line = text.ends_with('\n');
    };
    const Generation result = generate(model.session(), tokenizer, options.prompt, generate_options, write);
    if (!ends_line) write("\n");
    if (result.reason == StopReason::kContext)
        fmt::print(stderr, "stopped: the context of {} tokens is full (see --context)\n",
                   model.session().context());
    print_statistics(result.statistics);
    print_workers(model.program());
    return 0;
}

}  // namespace

Verb run_verb() {
    return {
        .name = "run",
        .help = "continue a text with a model, greedily",
        .examples = {"tessera run -p \"12 + 34 =\"",
                     "tessera run models/Qwen3-0.6B -p \"Once upon a time\" -n 64",
                     "tessera run OUT.tsr -p \"Once upon a time\" --context 4096"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<Options>();
            add_model_argument(app, options->model);
            app.add_option("-p,--prompt", options->prompt, "text to continue")->required()->type_name("TEXT");
            app.add_option("-n,--tokens", options->tokens,
                           fmt::format("most tokens to generate (default {}, or what the context leaves)",
                                       kDefaultTokens))
                ->check(CLI::PositiveNumber)
                ->type_name("N");
            app.add_option("--context", options->context,
                           "most tokens of prompt and text together (default: what they need)")
                ->check(CLI::PositiveNumber)
                ->type_name("N");
            return [options, &environment] { return run(*options, environment); };
        }};
}

}  // namespace tessera::cli
