#pragma once

#include <cstdint>
#include <filesystem>

#include "cli/environment.h"
#include "cli/first_use.h"
#include "tessera/model.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::cli {

/// Declares the argument MODEL, which may be left out.
CLI::Option* add_model_argument(CLI::App& app, std::filesystem::path& model);
inline constexpr const char* kIdsHelp = "JSON: a list of ids, or an object with one under prompt_ids";
/// Declares --ids, which is required.
void add_ids_option(CLI::App& app, std::filesystem::path& ids);

/// The path that MODEL means: itself, or, if empty, that of the model that ships with Tessera, preferably of
/// its artefact in packages, which needs no compiler.
/// @throws Error if there is none, it does not exist, or it is a pipe.
std::filesystem::path resolve_model(const std::filesystem::path& model, const Environment& environment);

/// The artefact at `path`; a folder or GGUF file is compiled into the user's cache on first use, which is
/// said on stderr. The cache is asked again whenever the model's files, Tessera or the machine have changed.
/// `context`: positions that one sequence must be able to have. `embeddings`: the model must have them. An
/// artefact must have been compiled as `how` says.
ModelFile open_model(const std::filesystem::path& path, int64_t context, const Environment& environment,
                     const FirstUse& how = {}, bool embeddings = false);

}  // namespace tessera::cli
