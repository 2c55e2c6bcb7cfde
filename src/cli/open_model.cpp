#include "cli/open_model.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/host_machine.h"
#include "cli/number_checks.h"
#include "compiler/compiler.h"
#include "import/gguf/gguf_parts.h"
#include "import/import_model.h"
#include "runtime/artefact.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/note.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

/// Enough of the digest that two models of one user never meet.
constexpr size_t kDigits = 16;

/// A file counts as changed with its size or its time of modification, as for `make`: reading gigabytes of
/// weights to find that they are the same would cost more than starting to generate.
void add_file(Hasher& hasher, const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    hasher.field(file.string()).field(fmt::format("{} {}", size, time));
}

void add_files_below(Hasher& hasher, const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->is_regular_file(error)) files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) add_file(hasher, file);
}

/// Where the artefact of a model lies in the cache.
struct CachePlace {
    fs::path folder;
    std::string prefix;  ///< of every artefact of this model
    fs::path artefact;
};

CachePlace place_in_cache(const fs::path& model, const compiler::CompileOptions& options,
                          const Environment& environment) {
    const fs::path whole = fs::canonical(model);
    const std::string context = options.context ? fmt::to_string(*options.context) : "";
    const std::string workers = options.workers ? fmt::to_string(*options.workers) : "";
    const std::string identity =
        Hasher().field(whole.string()).field(context).field(workers).hex().substr(0, kDigits);
    Hasher state;
    if (fs::is_directory(whole))
        add_files_below(state, whole);
    else
        for (const fs::path& part : import::GgufParts::names(model))
            add_file(state, fs::weakly_canonical(part));
    std::error_code error;
    add_file(state, fs::read_symlink("/proc/self/exe", error));
    add_files_below(state, environment.include_directory / "tessera");
    state.field(machine::content_hash(options.machine));

    CachePlace place{environment.cache->root() / "models",
                     fmt::format("{}-{}-", short_name(whole.stem().native()), identity),
                     {}};
    place.artefact = place.folder / (place.prefix + state.hex().substr(0, kDigits) + ".tsr");
    return place;
}

/// Artefacts of the same model as it was before are of no use to anyone.
void remove_older(const CachePlace& place) {
    std::error_code error;
    std::vector<fs::path> older;
    for (const auto& entry : fs::directory_iterator(place.folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(place.prefix) && name.ends_with(".tsr") && entry.path() != place.artefact)
            older.push_back(entry.path());
    }
    for (const fs::path& path : older) fs::remove(path, error);
}

void compile(const fs::path& model, const CachePlace& place, compiler::CompileOptions options,
             const Environment& environment) {
    note("compiling {} into {}", printable(model.string()), printable(place.artefact.string()));
    Progress progress(environment.terminal, "compiling " + model.string());
    options.on_pass = [&](const std::string&) { progress.update(); };
    compiler::compile_model(model, place.artefact, options);
    remove_older(place);
}

}  // namespace

CLI::Option* add_model_argument(CLI::App& app, fs::path& model) {
    return app
        .add_option(
            "MODEL,-m,--model", model,
            "artefact of `tessera compile`, or a folder in HuggingFace form or GGUF file, which is compiled "
            "on first use (default: the model that ships with Tessera)")
        ->check(not_empty());
}

void add_ids_option(CLI::App& app, std::filesystem::path& ids) {
    app.add_option("--ids", ids, "JSON: a list of ids, or an object with one under prompt_ids")
        ->required()
        ->check(not_empty())
        ->type_name("IDS.json");
}

fs::path resolve_model(const fs::path& model, const Environment& environment) {
    std::error_code error;
    if (!model.empty()) {
        if (!fs::exists(model, error)) throw Error(model.string(), "", "does not exist");
        return model;
    }
    const fs::path root = environment.include_directory.parent_path();
    for (const fs::path& models : {root / "share" / "tessera" / "models", root / "models"}) {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(models, error))
            if (fs::exists(entry.path() / "config.json", error)) found.push_back(entry.path());
        if (found.empty()) continue;
        const fs::path first = *std::min_element(found.begin(), found.end());
        const fs::path compiled = fs::path(first).concat(".tsr");
        return fs::exists(compiled, error) ? compiled : first;
    }
    throw Error("", "MODEL", "is missing, and no model was installed with Tessera",
                "name an artefact or a model", ErrorKind::kUsage);
}

ModelFile open_model(const fs::path& path, int64_t context, const Environment& environment,
                     std::optional<int64_t> workers) {
    if (fs::is_regular_file(path) && runtime::is_artefact(path)) {
        ModelFile model(path);
        if (workers && *workers != model.workers())
            throw Error(path.string(), "",
                        fmt::format("is compiled for {} {}, and cannot run with {}", model.workers(),
                                    model.workers() == 1 ? "worker" : "workers", *workers),
                        fmt::format("leave the number out, or compile the model with --workers {}", *workers),
                        ErrorKind::kUsage);
        return model;
    }
    compiler::CompileOptions options;
    options.machine = host_machine(environment);
    options.ntt_include = environment.include_directory;
    options.search_path = environment.search_path;
    if (context > import::kDefaultContext) options.context = context;
    options.workers = workers;

    CachePlace place = place_in_cache(path, options, environment);
    if (fs::exists(place.artefact)) {
        try {
            return ModelFile(place.artefact);
        } catch (const Error& damage) {
            note("{}", damage.what());
        }
    }
    options.cache = environment.cache->writable("code");
    place.folder = environment.cache->writable("models");
    place.artefact = place.folder / place.artefact.filename();
    compile(path, place, options, environment);
    return ModelFile(place.artefact);
}

}  // namespace tessera::cli
