#include "cli/announce_model.h"

#include <cstdio>

#include <fmt/format.h>

namespace tessera::cli {

void print_warnings(const std::string& model, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}: {}\n", model, warning);
}

void announce_model(const ModelFile& file, const ModelSettings& settings) {
    print_warnings(file.name(), file.warnings());
    fmt::print(stderr, "memory: {}\n", file.describe_memory(settings));
}

}  // namespace tessera::cli
