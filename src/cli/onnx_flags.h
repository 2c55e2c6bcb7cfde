#pragma once

#include <string>
#include <vector>

#include "tessera/compile.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// Choices that an ONNX model leaves open, as options state them.
struct OnnxFlags {
    std::vector<std::string> dims;       ///< NAME=N, NAME=LOW..HIGH
    std::vector<std::string> constants;  ///< NAME=FILE, NAME=N,..
    std::vector<std::string> aliases;    ///< OUTPUT=INPUT
    std::vector<std::string> points;     ///< NAME=SYMBOL:N,..
};

/// --dim, --constant and --alias. `flags` must outlive the parsing.
/// @param of_programs that --constant is also for
void add_onnx_flags(CLI::App& app, OnnxFlags& flags, const std::string& of_programs = {});

/// @throws Error of kind kUsage for a name that is given twice
OnnxSettings onnx_settings(const OnnxFlags& flags);

}  // namespace tessera::cli
