#include "cli/open_model.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/compile_progress.h"
#include "cli/host_machine.h"
#include "cli/number_checks.h"
#include "compiler/api/model_file.h"
#include "import/checkpoint.h"
#include "run/runtime/artefact.h"
#include "run/runtime/communicator.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/note.h"
#include "support/printable.h"
#include "tessera/open.h"

namespace tessera::cli {

namespace fs = std::filesystem;

namespace {

/// Bytes of a model's files from which on it takes more than a minute or so to compile.
constexpr uintmax_t kLargeModel = uintmax_t{1} << 30;

uintmax_t bytes_of(const fs::path& model) {
    std::error_code error;
    if (!fs::is_directory(model, error)) return fs::file_size(model, error);
    uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(model, error))
        if (entry.is_regular_file(error)) bytes += entry.file_size(error);
    return bytes;
}

/// Reports a compilation on first use: before it, its progress, and after it.
class Announced {
public:
    Announced(const fs::path& model, std::FILE* terminal) : model_(model), terminal_(terminal) {}

    void begin(const fs::path& artefact) {
        note("compiling {} into {}, which takes {}; later runs start at once", printable(model_.string()),
             printable(artefact.string()),
             bytes_of(model_) < kLargeModel ? "a minute or so" : "some minutes");
        start_ = std::chrono::steady_clock::now();
        progress_ = std::make_unique<CompileProgress>(terminal_, "compiling " + model_.string());
    }
    void pass(const std::string& name) { progress_->begin(name); }
    /// Does nothing if nothing was compiled.
    void end() {
        if (!progress_) return;
        progress_.reset();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
        note("compiled {} in {:.0f} s", printable(model_.string()), seconds.count());
    }

private:
    const fs::path& model_;
    std::FILE* terminal_;
    std::chrono::steady_clock::time_point start_;
    std::unique_ptr<CompileProgress> progress_;
};

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
    app.add_option("--ids", ids, kIdsHelp)->required()->check(not_empty())->type_name("IDS.json");
}

fs::path resolve_model(const fs::path& model, const Environment& environment) {
    std::error_code error;
    if (!model.empty()) {
        if (!fs::exists(model, error))
            throw Error(model.string(), "", "does not exist",
                        "name an artefact, a folder in HuggingFace form, or a GGUF file");
        if (fs::is_fifo(model, error)) (void)MappedFile::open(model);  // says what it is
        if (fs::is_directory(model, error)) import::refuse_without_config(model);
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
                     const FirstUse& how, bool embeddings) {
    OpenSettings settings{.machine = how.machine,
                          .policy = how.model.policy,
                          .cache_type = how.model.cache_type,
                          .quantize = how.model.quantize,
                          .architecture = how.model.architecture,
                          .workers = how.workers,
                          .embeddings = embeddings,
                          .search_effort = how.search_effort};
    if (fs::is_regular_file(path) && runtime::is_artefact(path)) {
        if (environment.is_launched_by_mpi) {
            ModelFile model(path, runtime::join_mpi());
            expect_settings(model, settings);
            return model;
        }
    }
    std::error_code error;
    Announced announced(path, environment.terminal);
    settings.include_directory = environment.include_directory;
    settings.search_path = environment.search_path;
    settings.measured_machines = environment.cache->root();
    settings.context = context;
    settings.models_directory = environment.cache->root() / "models";
    settings.program = fs::read_symlink("/proc/self/exe", error);
    settings.before_compiling = [&](OpenSettings& before) {
        if (how.machine.empty() && !how.no_measure) measure_once(environment);
        before.cache_directory = environment.cache->writable("code");
        before.models_directory = environment.cache->writable("models");
    };
    settings.on_compile = [&](const fs::path& artefact) { announced.begin(artefact); };
    settings.on_damage = [](const Error& damage) { note("{}", damage.what()); };
    settings.on_evict = [&](const fs::path& artefact) {
        announced.end();
        note("removed {}, for the limit of the cache", printable(artefact.string()));
    };
    settings.on_pass = [&](const std::string& pass) { announced.pass(pass); };
    ModelFile model = tessera::open_model(path, settings);
    announced.end();
    return model;
}

}  // namespace tessera::cli
