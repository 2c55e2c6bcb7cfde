#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/architecture/architectures.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// How a model is read and its numbers are rounded, as CompileSettings has it.
struct ModelFlags {
    std::string policy = "default";
    std::string cache_type = "auto";
    std::string quantize;      ///< name of a mixture; empty: weights stay as they are
    std::string architecture;  ///< file of a text; empty: those within the tool
};

/// How a verb compiles a model on first use.
struct FirstUse {
    std::optional<int64_t> workers;
    std::string machine;  ///< file; empty: the host
    bool no_measure = false;
    int64_t search_effort = 1;
    ModelFlags model;
};

/// --architecture, which every verb has that reads a model.
void add_architecture_flag(CLI::App& app, std::string& file);
/// The architectures of Tessera, and that of the file of --architecture; "" is none.
import::Architectures architectures_of(const std::string& file);
/// --policy, --cache-type, --quantize and --architecture.
void add_model_flags(CLI::App& app, ModelFlags& flags);
/// Work of the searches of a compilation.
void add_effort_flag(CLI::App& app, int64_t& search_effort);
/// --workers, --machine, --no-measure, --search-effort and those.
void add_first_use_flags(CLI::App& app, FirstUse& flags);

}  // namespace tessera::cli
