#include "cli/announce_model.h"

#include "support/note.h"

namespace tessera::cli {

void print_warnings(const std::string& model, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) note("warning: {}: {}", model, warning);
}

void announce_model(const ModelFile& file, const ModelSettings& settings) {
    if (file.process() == 0) print_warnings(file.name(), file.warnings());
    const std::string memory = file.describe_memory(settings);
    if (file.processes() == 1)
        note("memory: {}", memory);
    else
        note("process {} of {}: {}", file.process(), file.processes(), memory);
}

}  // namespace tessera::cli
