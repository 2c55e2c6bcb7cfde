#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::cli {

/// How long a text may get.
struct LimitFlags {
    std::optional<int64_t> tokens;  ///< -1: as many as the context leaves
    int64_t context = 0;            ///< 0: not given
    std::vector<std::string> stop;
};

/// The most tokens of the text, `by_default` where nothing was asked for; none: as many as the context
/// leaves.
std::optional<int64_t> most_tokens(const LimitFlags& flags, std::optional<int64_t> by_default);

/// --tokens and --context, with these helps, and --stop.
void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& tokens_help,
                     const std::string& context_help);

}  // namespace tessera::cli
