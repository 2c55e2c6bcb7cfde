#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/every_logit.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/verb.h"
#include "run/llm/compare_logits.h"
#include "run/llm/token_ids_file.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

constexpr std::array<std::string_view, 4> kGreedyKeys = {"greedy_ids", "ids", "output_ids", "tokens"};

/// An F32 forward pass in another order differs by 4e-7 to 9e-7 of the range; a wrong epsilon by 7e-6.
constexpr double kTolerance = 3e-6;

struct VerifyArguments {
    std::filesystem::path model, ids, logits, greedy;
    double tolerance = kTolerance;
    int64_t chunk = 0;
    FirstUse first_use;
};

/// The file with the expected rows, which need not be aligned.
class ExpectedLogits {
public:
    ExpectedLogits(const std::filesystem::path& path, int64_t vocabulary)
        : path_(path.string()), file_(MappedFile::open(path)), row_(static_cast<size_t>(vocabulary)) {
        static_assert(std::endian::native == std::endian::little, "the file is little-endian");
        const size_t row_bytes = row_.size() * sizeof(float);
        if (file_.size() == 0 || file_.size() % row_bytes != 0)
            throw Error(path_, "",
                        fmt::format("has {} bytes, expected a multiple of the {} of one row of {} logits",
                                    file_.size(), row_bytes, vocabulary));
    }

    int64_t rows() const { return static_cast<int64_t>(file_.size() / (row_.size() * sizeof(float))); }
    /// Lives until the next call.
    std::span<const float> row(int64_t index) {
        const size_t row_bytes = row_.size() * sizeof(float);
        std::memcpy(row_.data(), file_.bytes().data() + static_cast<size_t>(index) * row_bytes, row_bytes);
        for (size_t i = 0; i < row_.size(); ++i)
            if (!std::isfinite(row_[i]))
                throw Error(path_, "", fmt::format("holds {} at row {}, token {}", row_[i], index, i));
        return row_;
    }

private:
    std::string path_;
    MappedFile file_;
    std::vector<float> row_;
};

/// The ids whose logits the file holds: those of the prompt, then as many greedy ones as it has rows for.
std::vector<TokenId> sequence_for(int64_t rows, const std::vector<TokenId>& prompt,
                                  const std::vector<TokenId>& greedy, const VerifyArguments& options) {
    std::vector<TokenId> sequence = prompt;
    sequence.insert(sequence.end(), greedy.begin(), greedy.end());
    const auto least = static_cast<int64_t>(prompt.size()), most = static_cast<int64_t>(sequence.size());
    if (rows < least || rows > most)
        throw Error(
            options.logits.string(), "",
            least == most ? fmt::format("has {} rows, expected one for each of {} ids", rows, least)
                          : fmt::format("has {} rows, expected {} for the ids to {} with the greedy ones",
                                        rows, least, most),
            options.greedy.empty() ? "with --greedy the rows may go on with the ids of that file" : "");
    sequence.resize(static_cast<size_t>(rows));
    return sequence;
}

bool report_greedy(Model& model, const std::vector<TokenId>& prompt, const std::vector<TokenId>& expected) {
    const Generation result =
        model.generate(prompt, {.max_tokens = static_cast<int64_t>(expected.size()), .past_end = true});
    const auto [got, wanted] =
        std::mismatch(result.ids.begin(), result.ids.end(), expected.begin(), expected.end());
    const auto equal = wanted - expected.begin();
    fmt::print("greedy      {} of {} ids are equal", equal, expected.size());
    if (wanted != expected.end()) fmt::print(", then {} where {} is expected", *got, *wanted);
    fmt::print("\n");
    return wanted == expected.end();
}

bool report_logits(const llm::LogitsComparison& comparison, int64_t vocabulary, double tolerance) {
    const bool is_close = comparison.worst_error() <= tolerance;
    fmt::print("logits      {} rows of {}, range {:.6g}\n", comparison.rows(), vocabulary,
               comparison.range());
    fmt::print("error       {:.3g} of the range, {} the tolerance of {:.3g}", comparison.worst_error(),
               is_close ? "within" : "BEYOND", tolerance);
    if (comparison.worst_error() > 0) fmt::print(" ({})", comparison.worst_element());
    fmt::print("\ntop-1       {} of {} rows agree\n", comparison.top1_agreements(), comparison.rows());
    fmt::print("divergence  mean {:.3g}, max {:.3g}\n", comparison.mean_divergence(),
               comparison.worst_divergence());
    return is_close;
}

int verify(const VerifyArguments& options, const Environment& environment) {
    const std::vector<TokenId> prompt = llm::read_prompt_ids(options.ids);
    if (prompt.empty()) throw Error(options.ids.string(), "", "holds no ids");
    std::vector<TokenId> greedy;
    if (!options.greedy.empty()) greedy = llm::read_token_ids(options.greedy, kGreedyKeys);
    const auto context = static_cast<int64_t>(prompt.size() + greedy.size());

    const ModelFile artefact =
        open_model(resolve_model(options.model, environment), context, environment, options.first_use);
    artefact.verify_weights();
    const ModelSettings settings{.context = context, .chunk = options.chunk};
    announce_model(artefact, settings);
    Model model(artefact, settings);
    const int64_t vocabulary = artefact.vocabulary();
    ExpectedLogits expected(options.logits, vocabulary);
    const std::vector<TokenId> sequence = sequence_for(expected.rows(), prompt, greedy, options);

    llm::LogitsComparison comparison(vocabulary);
    every_logit(model, sequence, environment, [&](std::span<const float> actual) {
        comparison.add(expected.row(comparison.rows()), actual);
    });
    bool is_equal = report_logits(comparison, vocabulary, options.tolerance);
    if (!options.greedy.empty()) is_equal &= report_greedy(model, prompt, greedy);
    return is_equal || artefact.process() > 0 ? 0 : 1;  // the first rank speaks for all
}

}  // namespace

Verb verify_verb() {
    return {
        .name = "verify",
        .help = "compare a model with expected logits and greedy ids; exit code 1 where they differ",
        .examples =
            {"tessera verify models/Qwen3-0.6B --ids ids.json --logits expected.bin",
             "tessera verify OUT.tsr --ids prompt.json --logits expected.bin --greedy greedy.json --chunk 7"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<VerifyArguments>();
            add_model_argument(app, options->model);
            add_ids_option(app, options->ids);
            add_first_use_flags(app, options->first_use);
            app.add_option("--logits", options->logits,
                           "expected logits: raw little-endian F32, a row after each id")
                ->required()
                ->check(not_empty())
                ->type_name("FILE.bin");
            app.add_option("--greedy", options->greedy,
                           "JSON: the ids that greedy generation must give, a list or under greedy_ids; "
                           "further rows of "
                           "the logits belong to them")
                ->check(not_empty())
                ->type_name("GREEDY.json");
            app.add_option("--tolerance", options->tolerance,
                           "largest |difference|, divided by max - min of all expected logits")
                ->capture_default_str()
                ->check(number_or_zero())
                ->type_name("X");
            app.add_option(
                   "--chunk", options->chunk,
                   "most ids of one step; 1 computes them one by one (default: as many as the code takes)")
                ->check(whole_number(1, kMostTokens))
                ->type_name("N");
            return [options, &environment] { return verify(*options, environment); };
        }};
}

}  // namespace tessera::cli
