#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/announce_model.h"
#include "cli/limit_flags.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/prompt_flags.h"
#include "cli/verb.h"
#include "run/llm/token_ids_file.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "tessera/embedding.h"

namespace tessera::cli {
namespace {

struct EmbedArguments {
    std::filesystem::path model;
    std::vector<std::string> texts;
    std::optional<std::filesystem::path> file, ids, out;
    std::optional<std::string> pooling;
    FirstUse first_use;
    std::optional<bool> normalises;
    bool json = false;
};

void print_embeddings(const EmbedArguments& options, const std::string& model, const EmbedOptions& form,
                      const std::vector<size_t>& tokens, const std::vector<std::vector<float>>& embeddings) {
    if (!options.json) {
        for (const std::vector<float>& embedding : embeddings) fmt::print("{}\n", fmt::join(embedding, " "));
        return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (size_t i = 0; i < embeddings.size(); ++i)
        list.push_back({{"tokens", tokens[i]}, {"embedding", embeddings[i]}});
    const nlohmann::ordered_json json = {{"model", valid_utf8(model)},
                                         {"pooling", name(*form.pooling)},
                                         {"normalised", *form.normalise},
                                         {"embeddings", std::move(list)}};
    fmt::print("{}\n", json.dump(1));
}

constexpr const char* kNoPooling = "none";

/// The rows of all tokens as raw little-endian F32.
void write_rows(Model& model, const std::vector<TokenId>& ids, const std::filesystem::path& out) {
    AtomicFile file(out);
    model.hidden(ids, [&](std::span<const float> row) { file.write(std::as_bytes(row)); });
    file.commit();
}

/// Flags that do not go together.
void check_flags(const EmbedArguments& options) {
    const bool is_raw = options.pooling == kNoPooling;
    if (is_raw != options.out.has_value())
        throw Error("", is_raw ? "--out" : "--pooling",
                    is_raw ? "is missing" : "pools the rows that --out is of",
                    "give --pooling none together with --out FILE.bin", ErrorKind::kUsage);
    const size_t count = options.texts.size() + (options.file ? 1 : 0) + (options.ids ? 1 : 0);
    if (count == 0)
        throw Error("", "TEXT", "is missing", "give a text with --prompt, or a file with --file or --ids",
                    ErrorKind::kUsage);
    if (is_raw && count > 1)
        throw Error("", "--out", "takes the rows of one text", "give one text", ErrorKind::kUsage);
}

int run(const EmbedArguments& options, const Environment& environment) {
    check_flags(options);
    if (options.out) check_output(*options.out);
    std::vector<std::string> texts;
    for (const std::string& text : options.texts) texts.push_back(read_prompt_text(text, std::nullopt));
    if (options.file) texts.push_back(read_prompt_text(std::nullopt, options.file));
    const ModelFile file = open_model(resolve_model(options.model, environment), 0, environment,
                                      options.first_use, /*embeddings=*/true);
    const auto pooling = options.pooling && !options.out ? pooling_of(*options.pooling) : std::nullopt;
    std::vector<std::vector<TokenId>> ids;
    if (options.ids) ids.push_back(llm::read_prompt_ids(*options.ids));
    for (const std::string& text : texts) ids.push_back(file.encode_whole(text));
    size_t longest = 0;
    for (const std::vector<TokenId>& text : ids) longest = std::max(longest, text.size());
    if (static_cast<int64_t>(longest) > file.context())
        throw Error(file.name(), "TEXT",
                    fmt::format("has {} tokens, and the model reads up to {}", longest, file.context()));
    const ModelSettings settings{.context = static_cast<int64_t>(longest)};
    announce_model(file, settings);
    Model model(file, settings);
    if (options.out) {
        write_rows(model, ids.front(), *options.out);
        return 0;
    }
    const EmbedOptions form = file.decided({.pooling = pooling, .normalise = options.normalises});
    std::vector<size_t> tokens;
    std::vector<std::vector<float>> embeddings;
    for (const std::vector<TokenId>& text : ids) {
        tokens.push_back(text.size());
        embeddings.push_back(model.embed(text, form));
    }
    print_embeddings(options, file.name(), form, tokens, embeddings);
    return 0;
}

}  // namespace

Verb embed_verb() {
    return {
        .name = "embed",
        .help = "print texts as vectors: the hidden states of a model, pooled",
        .examples = {"tessera embed SmolLM2.gguf -p \"a cat\" -p \"a dog\" --json",
                     "tessera embed OUT.tsr -f text.txt --pooling last"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<EmbedArguments>();
            std::vector<std::string> names = pooling_names();
            names.emplace_back(kNoPooling);
            add_model_argument(app, options->model);
            app.add_option("-p,--prompt", options->texts,
                           "a text; may be repeated; \"-\" is the standard input")
                ->allow_extra_args(false)
                ->type_name("TEXT");
            app.add_option("-f,--file", options->file, "one more text")
                ->check(not_empty())
                ->type_name("FILE");
            app.add_option("--ids", options->ids,
                           "one more text as JSON: a list of ids, or an object with one under prompt_ids")
                ->check(not_empty())
                ->type_name("IDS.json");
            app.add_option(
                   "--pooling", options->pooling,
                   "how the hidden states of the tokens become one: their mean, that of the last or "
                   "of the first (cls), ..; none: all of them (default: as the model says, or else the mean)")
                ->check(CLI::IsMember(names));
            app.add_option("--out", options->out,
                           "with --pooling none: the vectors of all tokens, raw little-endian F32")
                ->check(not_empty())
                ->type_name("FILE.bin");
            app.add_flag_function(
                "--normalise,!--keep-length",
                [options](std::int64_t count) { options->normalises = count > 0; },
                "scale the vectors to length 1 (default: as the model says, or else yes)");
            add_first_use_flags(app, options->first_use);
            app.add_flag("--json", options->json,
                         "print model, tokens and vectors as JSON (default: a line for each text)");
            return [options, &environment] { return run(*options, environment); };
        }};
}

}  // namespace tessera::cli
