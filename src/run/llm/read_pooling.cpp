#include "run/llm/read_pooling.h"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "import/gguf/gguf_parts.h"
#include "run/llm/file_source.h"
#include "support/error.h"
#include "support/json.h"

// sentence-transformers writes a model as modules, one behind the other:
//
//     modules.json        [Transformer "", Pooling "1_Pooling", Normalize "2_Normalize"]
//     1_Pooling/config.json   {"pooling_mode_lasttoken": true, ..}, since version 5 {"pooling_mode":
//     "lasttoken"}

namespace tessera::llm {
namespace {

/// The other name of `last` there.
std::string own_name(const std::string& mode) {
    return mode == "lasttoken" ? "last" : mode;
}

/// Several modes give one vector each, one behind the other.
std::string mode_of(const JsonCursor& config) {
    if (const auto mode = config.find("pooling_mode")) return own_name(mode->string());
    constexpr std::array<std::pair<const char*, const char*>, 6> kFlags = {
        {{"pooling_mode_cls_token", "cls"},
         {"pooling_mode_mean_tokens", "mean"},
         {"pooling_mode_max_tokens", "max"},
         {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len"},
         {"pooling_mode_weightedmean_tokens", "weightedmean"},
         {"pooling_mode_lasttoken", "last"}}};
    std::vector<std::string> modes;
    for (const std::string& key : config.keys()) {
        if (!key.starts_with("pooling_mode_") || !config.at(key).boolean()) continue;
        std::string mode = key;
        for (const auto& [flag, name] : kFlags)
            if (key == flag) mode = name;
        modes.push_back(std::move(mode));
    }
    // The mean is what counts there where a file does not say.
    if (modes.empty() && !config.find("pooling_mode_mean_tokens")) return "mean";
    return modes.empty() ? "none" : fmt::format("{}", fmt::join(modes, " and "));
}

StatedPooling read_modules(FileSource& files) {
    constexpr std::string_view kModules = "modules.json";
    StatedPooling stated;
    std::string folder = "1_Pooling";
    if (files.contains(kModules)) {
        folder.clear();
        stated.normalises = false;
        for (const JsonCursor& module : parse_json(files.read(kModules), files.where(kModules)).items()) {
            const std::string type = module.at("type").string();
            const std::string name = type.substr(type.rfind('.') + 1);
            if (name == "Pooling")
                folder = module.at("path").string();
            else if (name == "Normalize")
                stated.normalises = true;
            else if (name != "Transformer")
                module.at("type").fail(
                    fmt::format("is {}, which changes embeddings and is not supported", type),
                    "supported are Transformer, Pooling and Normalize");
        }
    }
    const std::string config = folder + "/config.json";
    if (!folder.empty() && files.contains(config))
        stated.pooling = mode_of(parse_json(files.read(config), files.where(config)));
    return stated;
}

/// `llama_pooling_type` of llama.cpp.
StatedPooling read_key(const import::GgufFile& file) {
    constexpr std::array<const char*, 5> kTypes = {"none", "mean", "cls", "last", "rank"};
    const import::GgufMetadata& metadata = file.metadata();
    const std::string key =
        fmt::format("{}.pooling_type", metadata.get_string("general.architecture").value_or(""));
    for (const int64_t type : metadata.get_integers(key)) {
        if (type == -1 || type == UINT32_MAX) return {};  // unspecified
        const bool is_known = type >= 0 && std::cmp_less(type, kTypes.size());
        return {.pooling = is_known ? kTypes[static_cast<size_t>(type)] : fmt::format("type {}", type)};
    }
    return {};
}

}  // namespace

StatedPooling read_pooling(const std::filesystem::path& model) {
    if (!std::filesystem::is_directory(model)) return read_key(import::GgufParts::open_first(model));
    FileSource files(model);
    return read_modules(files);
}

}  // namespace tessera::llm
