#include "run/llm/perplexity.h"

#include <cstdio>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/announce_model.h"
#include "cli/limit_flags.h"
#include "cli/model_text.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/standard_streams.h"
#include "cli/verb.h"
#include "support/error.h"
#include "support/progress.h"

// The text is cut into chunks of the context's length. The second half of each counts, so that every token
// that counts has at least half a context before it:
//
//     | BOS . . . . . . . x x x x x x x x | BOS . . . . . . . x x ...

namespace tessera::cli {
namespace {

constexpr int64_t kDefaultContext = 512;

struct PerplexityArguments {
    std::filesystem::path model, file;
    int64_t context = kDefaultContext;
    std::optional<int64_t> chunks;
    FirstUse first_use;
    bool json = false;
};

void print(const PerplexityArguments& options, const llm::Perplexity& result, int64_t chunks) {
    if (!options.json) {
        fmt::print("perplexity {:.4f} +- {:.4f}, of {} tokens in {} chunks of {}\n", result.value(),
                   result.error(), result.count(), chunks, options.context);
        return;
    }
    const nlohmann::ordered_json json = {{"perplexity", result.value()},
                                         {"standard_error", result.error()},
                                         {"tokens", result.count()},
                                         {"chunks", chunks},
                                         {"context", options.context}};
    fmt::print("{}\n", json.dump(1));
}

int run(const PerplexityArguments& options, const Environment& environment) {
    const std::filesystem::path path = resolve_model(options.model, environment);
    const ModelText text = read_model_text(path, false, {});
    if (text.missing) throw Error(*text.missing);
    const std::vector<TokenId> ids = text.tokenizer->encode_prompt(read_text_input(options.file), false);
    const int64_t whole = static_cast<int64_t>(ids.size()) / options.context;
    if (whole == 0)
        throw Error(options.file == "-" ? "standard input" : options.file.string(), "",
                    fmt::format("has {} tokens, a chunk has {}", ids.size(), options.context),
                    "choose a longer text, or a smaller --context");
    const int64_t chunks = std::min(whole, options.chunks.value_or(whole));

    const ModelFile artefact = open_model(path, options.context, environment, options.first_use);
    const ModelSettings settings{.context = options.context};
    announce_model(artefact, settings);
    Model model(artefact, settings);
    Progress progress(environment.terminal, "computing perplexity", chunks);
    llm::Perplexity result;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto begin = ids.begin() + chunk * options.context;
        std::vector<TokenId> part(begin, begin + options.context);
        if (text.tokenizer->adds_bos()) part.front() = *text.tokenizer->bos();
        int64_t row = 0;
        model.logits(part, [&](std::span<const float> logits) {
            const int64_t next = ++row;
            if (next > options.context / 2 && next < options.context)
                result.add(logits, part[static_cast<size_t>(next)]);
        });
        progress.update(chunk + 1);
    }
    print(options, result, chunks);
    return 0;
}

}  // namespace

Verb perplexity_verb() {
    return {.name = "perplexity",
            .help = "say how well a model predicts a text",
            .examples = {"tessera perplexity SmolLM2.gguf -f wiki.test.raw",
                         "tessera perplexity OUT.tsr -f text.txt -c 1024 --chunks 8 --json",
                         "head -c 100000 wiki.test.raw | tessera perplexity SmolLM2.gguf -f -"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<PerplexityArguments>();
                add_model_argument(app, options->model);
                app.add_option("-f,--file", options->file, "the text; - reads standard input")
                    ->required()
                    ->check(not_empty())
                    ->type_name("FILE");
                app.add_option("-c,--context,--ctx-size", options->context,
                               fmt::format("tokens of a chunk, of which the second half counts (default {})",
                                           kDefaultContext))
                    ->check(whole_number(4, kMostTokens))
                    ->type_name("N");
                app.add_option("--chunks", options->chunks, "so many at most (default: the whole text)")
                    ->check(positive_count())
                    ->type_name("N");
                add_first_use_flags(app, options->first_use);
                app.add_flag("--json", options->json, "print the figures as JSON");
                return [options, &environment] { return run(*options, environment); };
            }};
}

}  // namespace tessera::cli
