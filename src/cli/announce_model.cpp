#include "cli/announce_model.h"

#include "support/note.h"

namespace tessera::cli {

void print_warnings(const std::string& model, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) note("warning: {}: {}", model, warning);
}

void announce_model(const ModelFile& file, const ModelSettings& settings) {
    print_warnings(file.name(), file.warnings());
    note("memory: {}", file.describe_memory(settings));
}

}  // namespace tessera::cli
