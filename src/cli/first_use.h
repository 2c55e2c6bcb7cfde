#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace tessera::cli {

/// How a model's numbers are rounded, as CompileSettings has it.
struct RoundingFlags {
    std::string policy = "default";
    std::string cache_type = "auto";
    std::string quantize;  ///< name of a mixture; empty: weights stay as they are
};

/// How a verb compiles a model on first use.
struct FirstUse {
    std::optional<int64_t> workers;
    std::string machine;  ///< file; empty: the host
    bool no_measure = false;
    int64_t search_effort = 1;
    RoundingFlags rounding;
};

/// --policy, --cache-type and --quantize.
void add_rounding_flags(CLI::App& app, RoundingFlags& flags);
/// Work of the searches of a compilation.
void add_effort_flag(CLI::App& app, int64_t& search_effort);
/// --workers, --machine, --no-measure, --search-effort and those.
void add_first_use_flags(CLI::App& app, FirstUse& flags);

}  // namespace tessera::cli
