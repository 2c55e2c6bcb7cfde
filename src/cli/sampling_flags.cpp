#include "cli/sampling_flags.h"

#include <charconv>
#include <random>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/number_checks.h"

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

}  // namespace

void add_sampling_flags(CLI::App& app, SamplingFlags& flags) {
    SamplingOptions& sampling = flags.options;
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
        ->check(fraction())
        ->type_name("P");
    of_drawing("--min-p", sampling.min_p,
               "draw from those with at least P times the largest probability only (default 0)")
        ->check(fraction())
        ->type_name("P");
    app.add_option_function<std::string>(
           "--seed", [&flags](const std::string& text) { set_seed(flags, text); },
           "another seed, another text; -1: another one each time, which is said (default 0)")
        ->needs(temperature)
        ->check(seed())
        ->type_name("N");
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

}  // namespace tessera::cli
