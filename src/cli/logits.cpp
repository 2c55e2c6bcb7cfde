#include <cstring>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/announce_model.h"
#include "cli/every_logit.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/verb.h"
#include "import/npy/npy_file.h"
#include "run/llm/token_ids_file.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"

namespace tessera::cli {
namespace {

struct LogitsArguments {
    std::filesystem::path model, out;
    std::optional<std::filesystem::path> ids, decoder_ids;
    std::vector<std::string> inputs;  ///< NAME=FILE
    int64_t chunk = 0;
    FirstUse first_use;
};

std::vector<TokenId> ids_in(const std::optional<std::filesystem::path>& file) {
    if (!file) return {};
    std::vector<TokenId> ids = llm::read_prompt_ids(*file);
    if (ids.empty()) throw Error(file->string(), "", "holds no ids");
    return ids;
}

/// The rows of a NumPy file, [numbers of a row, rows] as programs that compute features write it.
std::vector<float> read_features(const std::filesystem::path& path) {
    const import::NpyFile file = import::NpyFile::open(path);
    const std::vector<std::byte> elements = file.elements(ElementType::kF32);
    if (file.shape().size() != 2)
        throw Error(file.where(), "",
                    fmt::format("has {} axes, expected [numbers of a row, rows]", file.shape().size()));
    const auto width = static_cast<size_t>(file.shape()[0]), rows = static_cast<size_t>(file.shape()[1]);
    std::vector<float> all(width * rows);
    for (size_t row = 0; row < rows; ++row)
        for (size_t i = 0; i < width; ++i)
            std::memcpy(&all[row * width + i], &elements[(i * rows + row) * sizeof(float)], sizeof(float));
    return all;
}

/// Logits of a text that is made of sound or the like.
int write_logits_of_features(const LogitsArguments& options, const Environment& environment) {
    const auto inputs = named_files("--input", options.inputs);
    if (inputs.size() != 1 || !inputs.contains("features"))
        throw Error("--input", inputs.empty() ? "" : inputs.begin()->first,
                    "is no input of a model, expected features=FILE.npy", {}, ErrorKind::kUsage);
    const std::vector<float> rows = read_features(inputs.at("features"));
    const std::vector<TokenId> target = ids_in(options.decoder_ids);
    const ModelFile artefact =
        open_model(resolve_model(options.model, environment), 0, environment, options.first_use);
    const ModelSettings settings{.chunk = options.chunk};
    announce_model(artefact, settings);
    Model model(artefact, settings);
    if (artefact.process() > 0) {  // the first rank has the same
        model.logits_of_features(rows, target, [](std::span<const float>) {});
        return 0;
    }
    AtomicFile file(options.out);
    model.logits_of_features(rows, target,
                             [&](std::span<const float> logits) { file.write(std::as_bytes(logits)); });
    file.commit();
    return 0;
}

int write_logits(const LogitsArguments& options, const Environment& environment) {
    check_output(options.out);
    if (options.ids.has_value() == !options.inputs.empty())
        throw Error("--ids", "", "is missing, or stands beside --input", "give one of them",
                    ErrorKind::kUsage);
    if (!options.inputs.empty()) return write_logits_of_features(options, environment);
    const std::vector<TokenId> ids = ids_in(options.ids), target = ids_in(options.decoder_ids);
    const auto count = static_cast<int64_t>(ids.size() + target.size());
    const ModelFile artefact =
        open_model(resolve_model(options.model, environment), count, environment, options.first_use);
    const ModelSettings settings{.context = count, .chunk = options.chunk};
    announce_model(artefact, settings);
    Model model(artefact, settings);
    if (artefact.process() > 0) {  // the first rank has the same
        every_logit(model, ids, environment, [](std::span<const float>) {});
        return 0;
    }
    AtomicFile file(options.out);
    if (options.decoder_ids) {
        model.logits(ids, target, [&](std::span<const float> logits) { file.write(std::as_bytes(logits)); });
        file.commit();
        return 0;
    }
    every_logit(model, ids, environment,
                [&](std::span<const float> logits) { file.write(std::as_bytes(logits)); });
    file.commit();
    return 0;
}

}  // namespace

Verb logits_verb() {
    return {
        .name = "logits",
        .help = "write the logits after every token of a list of ids",
        .examples = {"tessera logits models/Qwen3-0.6B --ids ids.json --out logits.bin",
                     "tessera logits OUT.tsr --ids ids.json --out logits.bin --chunk 1"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<LogitsArguments>();
            add_model_argument(app, options->model);
            app.add_option("--ids", options->ids, kIdsHelp)->check(not_empty())->type_name("IDS.json");
            add_named_files(app, "--input", options->inputs,
                            "in place of --ids: features=FILE.npy, the rows that a model of sound reads, "
                            "[numbers of a row, rows]");
            app.add_option(
                   "--decoder-ids", options->decoder_ids,
                   "ids of the text that is made of the one in --ids, by an encoder and a decoder: the "
                   "logits are of these")
                ->check(not_empty())
                ->type_name("IDS.json");
            add_first_use_flags(app, options->first_use);
            app.add_option("--out", options->out, "raw little-endian F32, [ids, vocabulary]")
                ->required()
                ->check(not_empty())
                ->type_name("FILE.bin");
            app.add_option(
                   "--chunk", options->chunk,
                   "most ids of one step; 1 computes them one by one (default: as many as the code takes)")
                ->check(whole_number(1, kMostTokens))
                ->type_name("N");
            return [options, &environment] { return write_logits(*options, environment); };
        }};
}

}  // namespace tessera::cli
