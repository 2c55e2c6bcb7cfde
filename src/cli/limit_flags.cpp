#include "cli/limit_flags.h"

#include <CLI/CLI.hpp>

#include "cli/number_checks.h"
#include "support/limits.h"

namespace tessera::cli {
namespace {

/// As llama.cpp spells it.
constexpr int64_t kUntilFull = -1;

}  // namespace

std::optional<int64_t> most_tokens(const LimitFlags& flags, std::optional<int64_t> by_default) {
    if (flags.tokens == kUntilFull) return std::nullopt;
    return flags.tokens ? flags.tokens : by_default;
}

void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& tokens_help,
                     const std::string& context_help) {
    app.add_option("-n,--tokens,--n-predict", flags.tokens, tokens_help)
        ->check(whole_number_or(kUntilFull, 1, kMostTokens))
        ->type_name("N");
    app.add_option("-c,--context,--ctx-size", flags.context, context_help)
        ->check(whole_number(1, kMostTokens))
        ->type_name("N");
    app.add_option("--stop", flags.stop, "end before this text; may be repeated")
        ->allow_extra_args(false)
        ->type_name("TEXT");
}

}  // namespace tessera::cli
