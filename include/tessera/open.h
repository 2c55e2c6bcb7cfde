#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tessera/model.h"

/// Models by name, compiled on first use.
namespace tessera {

struct OpenSettings {
    /// As those of CompileSettings, for a checkpoint.
    std::filesystem::path include_directory = {};
    std::filesystem::path cache_directory = {};
    std::string search_path = "/usr/local/bin:/usr/bin:/bin";
    std::filesystem::path machine = {};
    std::filesystem::path measured_machines = {};
    std::string policy = "default";
    std::string cache_type = "auto";
    std::string quantize = {};
    std::filesystem::path architecture = {};
    std::optional<int64_t> workers = {};
    bool embeddings = false;
    int64_t search_effort = 1;
    /// Positions that one sequence must be able to have; 0: as many as a model is compiled for by default.
    int64_t context = 0;

    /// Folder for compiled models; created if missing.
    std::filesystem::path models_directory = {};
    /// File with the code of this library: models that another version has compiled are compiled again.
    std::filesystem::path program = {};
    /// Called before a checkpoint is compiled, and may choose other folders for what it writes, or describe
    /// the machine otherwise in `measured_machines`; may be empty.
    std::function<void(OpenSettings& settings)> before_compiling = {};
    std::function<void(const std::filesystem::path& artefact)> on_compile = {};  ///< next; may be empty
    /// Told why an artefact that was kept is compiled again; may be empty.
    std::function<void(const Error& damage)> on_damage = {};
    /// Told of artefacts that were removed because all together were larger than `tessera cache limit`
    /// allows; may be empty.
    std::function<void(const std::filesystem::path& artefact)> on_evict = {};
    std::function<void(const std::string& pass)> on_pass = {};  ///< CompileSettings::on_pass
    std::function<void()> while_waiting = {};                   ///< CompileSettings::while_waiting
};

/// The artefact at `model`. A HuggingFace folder or GGUF file is compiled into `models_directory`, and found
/// there again until its files, the library, the machine or the settings have changed, or others needed the
/// space that `tessera cache limit` leaves.
/// @throws Error as ModelFile and compile do, and if an artefact was compiled in another way than the
/// settings ask for, or lacks the embeddings.
ModelFile open_model(const std::filesystem::path& model, const OpenSettings& settings);

}  // namespace tessera
