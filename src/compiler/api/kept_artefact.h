#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tessera/compile.h"
#include "tessera/open.h"

/// Artefacts that are compiled on first use, and found again (docs/cache.md).
namespace tessera {

/// The files below a folder, in order, without hidden ones: models do not read them; version control does.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// A model that is opened, and how.
struct FirstUse {
    std::filesystem::path model;
    /// Those that the artefact depends on, asked for before and after compiling.
    std::function<std::vector<std::filesystem::path>()> files;
    std::vector<std::string> wishes;  ///< the arguments of `compile` beside the settings, in a fixed order
    /// @throws Error where the artefact is damaged
    std::function<void(const std::filesystem::path& artefact)> open;
    std::function<void(const std::filesystem::path& artefact, const CompileSettings& settings)> compile;
};

/// Opens the artefact, which is compiled into `models_directory` if it is not there.
/// @throws Error as `compile` and `open` do, and for a model that changes meanwhile
void open_kept(const FirstUse& use, const OpenSettings& settings);

}  // namespace tessera
