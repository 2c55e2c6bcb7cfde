#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/grammar_flags.h"
#include "cli/interrupt.h"
#include "cli/limit_flags.h"
#include "cli/open_model.h"
#include "cli/prompt_flags.h"
#include "cli/remark.h"
#include "cli/run_program.h"
#include "cli/sampling_flags.h"
#include "cli/standard_streams.h"
#include "cli/verb.h"
#include "run/llm/think_view.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/note.h"

namespace tessera::cli {
namespace {

constexpr int64_t kDefaultTokens = 128;
/// An answer mostly ends by itself; small models may repeat themselves without an end.
constexpr int64_t kDefaultAnswer = 512;

struct RunArguments {
    std::filesystem::path model;
    PromptFlags prompt;
    LimitFlags limits;
    FirstUse first_use;
    SamplingFlags sampling;
    GrammarFlags grammar;
    ProgramFlags program;
    bool is_verbose = false;
};

/// None: as many as the context leaves.
std::optional<int64_t> wanted_tokens(const RunArguments& options, const Prompt& prompt) {
    return most_tokens(options.limits, prompt.is_chat ? kDefaultAnswer : kDefaultTokens);
}

/// Positions to set memory aside for: those that the prompt and the wanted tokens take, within what is
/// allowed.
int64_t needed_context(const ModelFile& model, int64_t prompt, std::optional<int64_t> tokens,
                       const RunArguments& options) {
    const int64_t largest = model.context();
    if (options.limits.context > largest) return options.limits.context;  // refused by the session
    const int64_t allowed = options.limits.context == 0 ? largest : options.limits.context;
    if (!tokens) return allowed;
    // The last token of the text takes no position: nothing is computed after it.
    const int64_t needed = prompt + *tokens - 1;
    if (needed > allowed && options.limits.tokens && prompt <= allowed)
        throw Error(
            model.name(), "",
            fmt::format("{} tokens after a prompt of {} do not fit into the context of {}", *tokens, prompt,
                        allowed),
            allowed < largest ? fmt::format("--context can be up to {}", largest) : "choose a smaller -n");
    return std::max<int64_t>(1, std::min(needed, allowed));
}

double rate(int64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void print_statistics(const GenerateStatistics& s, const Remarks& remark) {
    remark("prompt: {} tokens in {:.3f} s, {:.1f} tokens/s", s.prompt_tokens, s.prompt_seconds,
           rate(s.prompt_tokens, s.prompt_seconds));
    if (s.decode_steps > 0)
        remark("text:   {} tokens in {:.3f} s, {:.1f} tokens/s", s.decode_steps, s.decode_seconds,
               rate(s.decode_steps, s.decode_seconds));
}

void print_workers(const WorkerStatistics& s, const Remarks& remark) {
    const char* lack = s.lacks_processors ? " (more than there are processors)" : "";
    const auto steps = static_cast<double>(s.steps);
    if (s.ranks > 1)
        remark("ranks:   {}{}, {:.1f} exchanges a step", s.ranks, lack, rate(s.exchanges, steps));
    if (s.workers > 1)
        remark("workers: {}{}, {:.1f} barriers a step", s.workers, lack, rate(s.barriers, steps));
}

struct Prepared {
    ModelFile model;
    Prompt prompt;
    SamplingOptions sampling;
    llm::StatedSampling stated;  ///< by the model
};

/// A missing tokenizer, a wrong prompt and wrong options are found before a model is compiled for minutes.
Prepared prepare(const RunArguments& options, const Environment& environment) {
    const std::filesystem::path path = resolve_model(options.model, environment);
    const ModelText text =
        read_model_text(path, options.prompt.may_chat(), options.prompt.chat.chat_template);
    Prompt prompt = read_prompt(options.prompt, text, path.string());
    const SamplingOptions sampling = options.sampling.decided(text.sampling, usual_of_texts());
    const int64_t length =
        static_cast<int64_t>(prompt.ids.size()) + most_tokens(options.limits, 0).value_or(0);
    return {open_model(path, std::max(options.limits.context, length), environment, options.first_use),
            std::move(prompt), sampling, text.sampling};
}

/// The artefact of a program, if the model is one. A language model takes no arrays, and a program no text.
std::shared_ptr<const runtime::Artefact> program_of(const RunArguments& options,
                                                    const Environment& environment) {
    if (!options.program.are_given() && options.model.empty()) return nullptr;
    const std::filesystem::path path = resolve_model(options.model, environment);
    if (path.extension() == ".ir" && std::filesystem::is_regular_file(path))
        throw Error(path.string(), "", "is a program that is not compiled yet",
                    "`tessera compile FILE.ir -o OUT.tsr` makes an artefact, which can be called");
    std::shared_ptr<const runtime::Artefact> artefact;
    if (std::filesystem::is_regular_file(path) && runtime::is_artefact(path))
        artefact = std::make_shared<const runtime::Artefact>(runtime::Artefact::open(path));
    const bool is_program = artefact && !artefact->manifest().text;
    if (!is_program && options.program.are_given())
        throw Error(path.string(), "", "is a language model, which takes a prompt and no arrays",
                    "--input, --symbol, --out and --times are for programs; use --prompt or --ids",
                    ErrorKind::kUsage);
    if (is_program && options.prompt.are_given())
        throw Error(path.string(), "", "is a program, which cannot continue a text",
                    "give it arrays: --input NAME=FILE.npy --out DIR");
    return is_program ? artefact : nullptr;
}

int run(const RunArguments& options, const Environment& environment) {
    const std::optional<Grammar> grammar = options.grammar.read();
    if (const auto program = program_of(options, environment)) {
        if (grammar)
            throw Error(program->where(), "", "is a program, which writes no text for a grammar", "",
                        ErrorKind::kUsage);
        return run_program(program, options.program);
    }
    auto [file, prompt, sampling, stated] = prepare(options, environment);
    const Remarks remark(environment, options.is_verbose);
    const std::optional<int64_t> tokens = wanted_tokens(options, prompt);
    const ModelSettings settings{
        .context = needed_context(file, static_cast<int64_t>(prompt.ids.size()), tokens, options)};
    announce_model(file, settings, remark);
    Model model(file, settings);

    const bool tells = file.process() == 0;
    if (prompt.is_chat && tells)
        remark("using the model's chat template (--raw continues the text as it is)");
    if (tells) announce_sampling(sampling, stated, remark);
    // Every process has all logits and draws from them: the same tokens, from one seed.
    file.take_from_first_process(std::as_writable_bytes(std::span(&sampling.seed, 1)));
    if (options.sampling.is_seed_drawn && tells) note("seed: {}", sampling.seed);
    const bool has_text = file.has_tokenizer();
    if (!has_text) {
        if (!options.limits.stop.empty())
            throw Error(file.name(), "--stop", "ends a text, and the model has no tokenizer to make one");
        if (grammar)
            throw Error(file.name(), options.grammar.grammar.empty() ? "--json-schema" : "--grammar",
                        "is about texts, and the model has no tokenizer to make one");
        note("the model has no tokenizer: what follows is ids");
    }

    const InterruptWatch interrupt;
    bool ends_line = false;
    const auto write = [&](std::string_view text) {
        show(text);
        ends_line = text.ends_with('\n');
    };
    GenerateOptions how{.max_tokens = tokens.value_or(model.context()),
                        .sampling = sampling,
                        .stop_ids = prompt.ends,
                        .grammar = grammar,
                        .stop_strings = options.limits.stop,
                        .should_stop = [&] { return interrupt.interrupted(); }};
    const bool folds = prompt.is_chat && options.prompt.chat.think == "fold";
    llm::ThinkView view(folds, folds && llm::ends_in_thinking(file.decode(prompt.ids)), write);
    if (has_text)
        how.on_text = [&](std::string_view text) { view.push(text); };
    else
        how.on_token = [&, is_first = true](TokenId id) mutable {
            write(fmt::format("{}{}", std::exchange(is_first, false) ? "" : " ", id));
        };
    const Generation result = model.generate(prompt.ids, how);
    view.finish();
    if (!ends_line) write("\n");
    if (!tells) return 0;
    if (result.reason == StopReason::kContext)
        note("stopped: the context of {} tokens is full (see --context)", model.context());
    if (result.reason == StopReason::kMaxTokens && !options.limits.tokens)
        remark("stopped: after {} tokens (see -n)", *tokens);
    if (result.reason == StopReason::kInterrupted) remark("stopped: interrupted");
    if (grammar && !grammar->accepts(result.text))
        note("the text ends before the grammar does{}",
             result.reason == StopReason::kMaxTokens ? " (see -n)" : "");
    print_statistics(result.statistics, remark);
    print_workers(model.worker_statistics(), remark);
    return result.reason == StopReason::kInterrupted ? kInterruptedExitCode : 0;
}

}  // namespace

Verb run_verb() {
    return {
        .name = "run",
        .help = "answer or continue a text with a model, or call a program with arrays",
        .examples = {"tessera run -p \"12 + 34 =\"",
                     ("tessera run models/Qwen3-0.6B -p \"Once upon a time\" -n 64 --temperature 0.8 "
                      "--top-p 0.95 --seed 1"),
                     "tessera run OUT.tsr --raw -p - --stop \"User:\" < prompt.txt",
                     ("tessera run -m SmolLM2.gguf -p \"Why is the sky blue?\" --system \"Answer in one "
                      "sentence.\" -n 100 -c 2048 -t 2"),
                     "tessera run SmolLM2.gguf -p \"A fruit as JSON.\" --json-schema fruit.schema.json",
                     "tessera run OUT.tsr -p \"12 + 34 =\" --grammar 'root ::= \" \" [0-9]{1,3}'",
                     "tessera run OUT.tsr --ids prompt.json --context 4096",
                     "tessera run matmul.tsr --input X=x.npy --input Y=y.npy --out results --times 100"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<RunArguments>();
            add_model_argument(app, options->model);
            add_prompt_flags(app, options->prompt);
            add_first_use_flags(app, options->first_use);
            add_limit_flags(
                app, options->limits,
                fmt::format("most tokens to generate; -1: as many as the context leaves (default: {}, and {} "
                            "for an answer by the model's template)",
                            kDefaultTokens, kDefaultAnswer),
                "most tokens of prompt and text together (default: what they need)");
            add_sampling_flags(app, options->sampling, usual_of_texts());
            add_grammar_flags(app, options->grammar);
            add_program_flags(app, options->program);
            app.add_flag("--verbose", options->is_verbose,
                         "say what is used and how fast it was though the standard error is no terminal");
            return [options, &environment] { return run(*options, environment); };
        }};
}

}  // namespace tessera::cli
