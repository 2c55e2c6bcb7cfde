#include "cli/announce_model.h"

#include "support/note.h"

namespace tessera::cli {

void print_warnings(const std::string& model, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) note("warning: {}: {}", model, warning);
}

void announce_model(const ModelFile& file, const ModelSettings& settings, const Remarks& remark) {
    if (file.process() == 0) print_warnings(file.name(), file.warnings());
    const std::string memory = file.describe_memory(settings);
    if (file.processes() == 1)
        remark("memory: {}", memory);
    else
        remark("process {} of {}: {}", file.process(), file.processes(), memory);
}

void announce_sampling(const SamplingOptions& sampling, const llm::StatedSampling& model,
                       const Remarks& remark) {
    for (const std::string& setting : model.not_followed)
        remark("{}: {}, which is not followed", model.where, setting);
    // No remark if the most probable tokens are taken by default.
    const bool is_stated = model.choices != SamplingChoices{};
    if (sampling.temperature > 0 || is_stated)
        remark("sampling: {}{}", llm::describe(sampling),
               is_stated ? fmt::format(" (of the model's {} and the flags)", model.where) : "");
}

}  // namespace tessera::cli
