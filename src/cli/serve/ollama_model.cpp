#include "cli/serve/ollama_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "support/hash.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// The head of an artefact and its table of sections, which have the checksums of all that follows.
constexpr size_t kHeadBytes = 4096;
constexpr std::string_view kTag = ":latest";
/// The model stays as long as the server does.
constexpr const char* kNever = "9999-12-31T23:59:59Z";
/// The first version of Ollama with all fields that are read here. Clients ask whether it is new enough.
constexpr const char* kVersion = "0.12.11";

std::string tagged(const OllamaModel& model) {
    return valid_utf8(model.name) + std::string(kTag);
}

/// Ollama's details of a file of weights. An artefact has parts of many types.
Json details() {
    return {{"parent_model", ""},      {"format", "tessera"},  {"family", "tessera"},
            {"families", {"tessera"}}, {"parameter_size", ""}, {"quantization_level", ""}};
}

Json entry(const OllamaModel& model) {
    return {{"name", tagged(model)}, {"model", tagged(model)}, {"modified_at", ollama_time(model.modified)},
            {"size", model.bytes},   {"digest", model.digest}, {"details", details()}};
}

}  // namespace

std::string ollama_time(std::chrono::system_clock::time_point time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), rest.count());
}

OllamaModel ollama_model(const Engine& engine, bool thinks, bool calls) {
    const ModelFile& file = engine.file();
    OllamaModel model{.name = file.name(),
                      .description = file.describe(),
                      .digest = {},
                      .context = engine.context(),
                      .embedding_width = file.embedding_width(),
                      .thinks = thinks,
                      .calls = calls};
    const MappedFile mapped = MappedFile::open(file.path());
    model.digest = hash_hex(mapped.text().substr(0, kHeadBytes));
    model.bytes = static_cast<int64_t>(mapped.text().size());
    std::error_code failed;
    const auto written = fs::last_write_time(file.path(), failed);
    if (!failed)
        model.modified = std::chrono::time_point_cast<std::chrono::system_clock::duration>(
            std::chrono::file_clock::to_sys(written));
    return model;
}

bool is_named(const OllamaModel& model, std::string_view name) {
    if (name == model.name) return true;
    return name.ends_with(kTag) && name.substr(0, name.size() - kTag.size()) == model.name;
}

std::string print_tags(const OllamaModel& model) {
    return Json{{"models", {entry(model)}}}.dump();
}

std::string print_running(const OllamaModel& model) {
    Json one = entry(model);
    one["expires_at"] = kNever;
    one["size_vram"] = 0;
    one["context_length"] = model.context;
    return Json{{"models", {std::move(one)}}}.dump();
}

std::string print_show(const OllamaModel& model) {
    Json capabilities = {"completion"};
    if (model.embedding_width > 0) capabilities.push_back("embedding");
    if (model.calls) capabilities.push_back("tools");
    if (model.thinks) capabilities.push_back("thinking");
    Json facts = {{"general.architecture", "tessera"},
                  {"general.basename", valid_utf8(model.name)},
                  {"tessera.context_length", model.context}};
    if (model.embedding_width > 0) facts["tessera.embedding_length"] = model.embedding_width;
    const Json whole = {
        {"modelfile", fmt::format("# {}\nFROM {}\n", printable(model.description), printable(model.name))},
        {"parameters", ""},
        {"template", ""},
        {"details", details()},
        {"model_info", std::move(facts)},
        {"capabilities", std::move(capabilities)},
        {"modified_at", ollama_time(model.modified)}};
    return whole.dump();
}

std::string print_version() {
    return Json{{"version", kVersion}}.dump();
}

}  // namespace tessera::serve
