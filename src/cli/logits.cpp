#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/every_logit.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/verb.h"
#include "run/llm/token_ids_file.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"

namespace tessera::cli {
namespace {

struct LogitsArguments {
    std::filesystem::path model, ids, out;
    std::optional<std::filesystem::path> decoder_ids;
    int64_t chunk = 0;
    FirstUse first_use;
};

int write_logits(const LogitsArguments& options, const Environment& environment) {
    check_output(options.out);
    const std::vector<TokenId> ids = llm::read_prompt_ids(options.ids);
    if (ids.empty()) throw Error(options.ids.string(), "", "holds no ids");
    std::vector<TokenId> target;
    if (options.decoder_ids) target = llm::read_prompt_ids(*options.decoder_ids);
    if (options.decoder_ids && target.empty()) throw Error(options.decoder_ids->string(), "", "holds no ids");
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
            add_ids_option(app, options->ids);
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
