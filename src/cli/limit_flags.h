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
    std::optional<int64_t> tokens;
    int64_t context = 0;  ///< 0: not given
    std::vector<std::string> stop;
};

/// --tokens and --context, with these helps, and --stop.
void add_limit_flags(CLI::App& app, LimitFlags& flags, const std::string& tokens_help,
                     const std::string& context_help);

}  // namespace tessera::cli
