#include "cli/sampling_flags.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/number_checks.h"
#include "run/llm/sample.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

constexpr const char* kDrawn = "-1";

bool read_seed(const std::string& text, uint64_t& seed) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seed);
    return error == std::errc() && stop == end;
}

CLI::Validator seed() {
    return CLI::Validator(
        [](const std::string& text) {
            uint64_t number = 0;
            return text == kDrawn || read_seed(text, number)
                       ? std::string()
                       : fmt::format("expected a whole number from 0 to {}, or -1, not '{}'", UINT64_MAX,
                                     text);
        },
        "");
}

/// @pre the text has passed `seed`
void set_seed(SamplingFlags& flags, const std::string& text) {
    flags.is_seed_drawn = text == kDrawn;
    if (!flags.is_seed_drawn) {
        read_seed(text, flags.options.seed);
        return;
    }
    std::random_device random;
    flags.options.seed = (uint64_t{random()} << 32) | random();
}

std::optional<double> read_number(const std::string& text) {
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end && std::isfinite(number) ? std::optional(number)
                                                                        : std::nullopt;
}

CLI::Validator finite_number() {
    return CLI::Validator(
        [](const std::string& text) {
            const std::optional<double> number = read_number(text);
            return number && std::isfinite(*number) ? std::string()
                                                    : fmt::format("expected a number, not '{}'", text);
        },
        "");
}

/// "15043=-1.5"
std::optional<std::pair<TokenId, double>> read_bias(const std::string& text) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos) return std::nullopt;
    TokenId id = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + sign, id);
    const std::optional<double> number = read_number(text.substr(sign + 1));
    if (error != std::errc() || stop != text.data() + sign || id < 0 || !number) return std::nullopt;
    return std::pair(id, *number);
}

CLI::Validator bias() {
    return CLI::Validator(
        [](const std::string& text) {
            return read_bias(text)
                       ? std::string()
                       : fmt::format("expected an id and a number, such as 15043=-1.5, not '{}'", text);
        },
        "");
}

/// @pre the texts have passed `bias`
void set_biases(SamplingFlags& flags, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) flags.options.logit_bias.push_back(*read_bias(text));
}

}  // namespace

SamplingOptions usual_of_texts() {
    return {};
}

SamplingOptions usual_of_conversations() {
    return {.temperature = 0.7, .top_p = 0.95, .min_p = 0.05};
}

SamplingOptions SamplingFlags::decided(const llm::StatedSampling& model,
                                       const SamplingOptions& otherwise) const {
    SamplingOptions base = llm::with(llm::decided(model, otherwise), choices);
    base.frequency_penalty = options.frequency_penalty;
    base.presence_penalty = options.presence_penalty;
    base.logit_bias = options.logit_bias;
    base.seed = options.seed;
    llm::check(base);
    if (choices.repetition_window && base.repetition_penalty == 1 && base.frequency_penalty == 0 &&
        base.presence_penalty == 0)
        throw Error("", "--repeat-window", "is about a penalty, and there is none",
                    "add --repeat-penalty, --frequency-penalty or --presence-penalty", ErrorKind::kUsage);
    if (base.temperature == 0 && !choices.temperature && !of_drawing.empty())
        throw Error("", of_drawing.front(), "is about drawing tokens, and the most probable one is taken",
                    "add a temperature, such as --temperature 0.8", ErrorKind::kUsage);
    return base;
}

void add_sampling_flags(CLI::App& app, SamplingFlags& flags, const SamplingOptions& otherwise) {
    SamplingOptions& sampling = flags.options;
    SamplingChoices& choices = flags.choices;
    app.add_option("--temperature,--temp", choices.temperature,
                   fmt::format("draw tokens by their probability at this temperature; 0: always the most "
                               "probable (default: what the model's generation_config.json or GGUF file "
                               "says, else {})",
                               otherwise.temperature))
        ->check(number_or_zero())
        ->type_name("T");
    const auto of_drawing = [&](const char* flag, auto& value, const std::string& help, double usual) {
        return app
            .add_option(flag, value, fmt::format("{} (default: as the model says, else {})", help, usual))
            ->each(
                [&flags, flag = std::string(flag)](const std::string&) { flags.of_drawing.push_back(flag); });
    };
    of_drawing("--top-k", choices.top_k, "draw from the K most probable only; 0: from all",
               static_cast<double>(otherwise.top_k))
        ->check(count_or_zero())
        ->type_name("K");
    of_drawing("--top-p", choices.top_p,
               "draw from the fewest that together have the probability P only; 1: from all", otherwise.top_p)
        ->check(fraction())
        ->type_name("P");
    of_drawing("--min-p", choices.min_p,
               "draw from those with at least P times the largest probability only; 0: from all",
               otherwise.min_p)
        ->check(fraction())
        ->type_name("P");
    of_drawing("--typical,--typical-p", choices.typical_p,
               "draw from those whose surprise is near the expected one, and which have together the "
               "probability P only; 1: from all",
               otherwise.typical_p)
        ->check(fraction())
        ->type_name("P");
    app.add_option_function<std::string>(
           "-s,--seed",
           [&flags](const std::string& text) {
               set_seed(flags, text);
               flags.of_drawing.emplace_back("--seed");
           },
           "another seed, another text; -1: another one each time, which is said (default 0)")
        ->check(seed())
        ->type_name("N");
    app.add_option("--repeat-penalty", choices.repetition_penalty,
                   "make tokens that have occurred less probable; 1.1 is usual (default: as "
                   "the model says, else 1)")
        ->check(positive_number())
        ->type_name("X");
    app.add_option("--frequency-penalty", sampling.frequency_penalty,
                   "take X off a token's logit for each time that it is among the last ones (default 0)")
        ->check(finite_number())
        ->type_name("NUMBER");
    app.add_option("--presence-penalty", sampling.presence_penalty,
                   "take X off once, if it is among them (default 0)")
        ->check(finite_number())
        ->type_name("NUMBER");
    app.add_option_function<std::vector<std::string>>(
           "--logit-bias", [&flags](const std::vector<std::string>& texts) { set_biases(flags, texts); },
           "add a number to the logit of a token: 15043=-1.5; -inf: the token never comes; may be repeated")
        ->allow_extra_args(false)
        ->check(bias())
        ->type_name("ID=NUMBER");
    app.add_option("--repeat-window,--repeat-last-n", choices.repetition_window,
                   fmt::format("they have occurred if they are among the last N (default {}, "
                               "or all where the model says the penalty)",
                               sampling.repetition_window))
        ->check(count_or_zero())
        ->type_name("N");
}

}  // namespace tessera::cli
