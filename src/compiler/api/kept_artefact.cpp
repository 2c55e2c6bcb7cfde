#include "compiler/api/kept_artefact.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/api/content_digests.h"
#include "compiler/api/model_cache.h"
#include "import/import_model.h"
#include "machine/host_cache.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/output_place.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Enough digits of the digest that two models of one user never meet.
constexpr size_t kDigits = 16;

/// The files that a compilation depends on, by name and contents.
std::string content_of(const FirstUse& use, const OpenSettings& settings) {
    std::vector<fs::path> files = files_below(settings.include_directory / "tessera");
    if (!settings.program.empty()) files.push_back(settings.program);
    if (!settings.architecture.empty()) files.push_back(settings.architecture);
    const std::vector<fs::path> of_model = use.files();
    files.insert(files.end(), of_model.begin(), of_model.end());
    const ContentDigests digests(
        settings.models_directory.empty() ? fs::path() : settings.models_directory / kDigestsFolder);
    Hasher hasher;
    for (const fs::path& file : files) {
        // Files that cannot be read cannot be part of a model either.
        const bool is_readable = ::access(file.c_str(), R_OK) == 0;
        hasher.field(file.string()).field(is_readable ? digests.digest(file) : "");
    }
    return hasher.hex();
}

/// Contexts that are compiled by default need no setting.
std::optional<int64_t> wished_context(const OpenSettings& settings) {
    if (settings.context <= import::kDefaultContext) return std::nullopt;
    return settings.context;
}

/// The name of the artefact of a model.
struct KeptName {
    std::string prefix;  ///< of every artefact of this model
    std::string whole;
};

KeptName kept_name(const FirstUse& use, const OpenSettings& settings) {
    const fs::path whole = fs::canonical(use.model);
    const auto text = [](const std::optional<int64_t>& number) {
        return number ? fmt::to_string(*number) : std::string();
    };
    const OpenSettings untouched;
    Hasher identity;
    identity.field(whole.string()).field(text(wished_context(settings))).field(text(settings.workers));
    if (settings.embeddings) identity.field("embeddings");
    if (!settings.architecture.empty()) identity.field("architecture").field(settings.architecture.string());
    if (settings.search_effort != untouched.search_effort)
        identity.field("search_effort").field(fmt::to_string(settings.search_effort));
    // With their names, as q8_0 is a type of the cache and of quantised weights.
    for (const auto& [name, value, usual] :
         {std::tuple("policy", settings.policy, untouched.policy),
          std::tuple("cache_type", settings.cache_type, untouched.cache_type),
          std::tuple("quantize", settings.quantize, untouched.quantize)})
        if (value != usual) identity.field(name).field(value);
    for (const std::string& wish : use.wishes) identity.field(wish);
    Hasher state;
    state.field(content_of(use, settings));
    if (settings.machine.empty()) {
        const machine::Machine probed = machine::probe_host();
        state.field(
            machine::content_hash(machine::cached_host(settings.measured_machines, probed).value_or(probed)));
    } else {
        identity.field(settings.machine.string());
        state.field(machine::content_hash(machine::read_machine(settings.machine)));
    }

    KeptName name{
        .prefix = fmt::format("{}-{}-", short_name(whole.stem().native()), identity.hex().substr(0, kDigits)),
        .whole = {}};
    name.whole = name.prefix + state.hex().substr(0, kDigits) + ".tsr";
    return name;
}

/// Removes artefacts of earlier versions of the same model.
void remove_older(const fs::path& folder, const KeptName& kept) {
    std::error_code error;
    std::vector<fs::path> older;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kept.prefix) && name.ends_with(".tsr") && name != kept.whole)
            older.push_back(entry.path());
    }
    for (const fs::path& path : older) fs::remove(path, error);
}

CompileSettings compile_settings(const OpenSettings& settings) {
    return {.include_directory = settings.include_directory,
            .cache_directory = settings.cache_directory,
            .search_path = settings.search_path,
            .machine = settings.machine,
            .measured_machines = settings.measured_machines,
            .policy = settings.policy,
            .cache_type = settings.cache_type,
            .quantize = settings.quantize,
            .architecture = settings.architecture,
            .embeddings = settings.embeddings,
            .search_effort = settings.search_effort,
            .workers = settings.workers,
            .context = wished_context(settings),
            .on_pass = settings.on_pass,
            .while_waiting = settings.while_waiting};
}

}  // namespace

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().filename().native().starts_with('.'))
            entry.disable_recursion_pending();
        else if (entry->is_regular_file(error))
            files.push_back(entry->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void open_kept(const FirstUse& use, const OpenSettings& given) {
    KeptName kept = kept_name(use, given);
    if (const fs::path artefact = given.models_directory / kept.whole; fs::exists(artefact)) {
        try {
            use.open(artefact);
            mark_used(artefact);
            return;
        } catch (const Error& damage) {
            if (given.on_damage) given.on_damage(damage);
        }
    }
    OpenSettings settings = given;
    if (settings.before_compiling) {
        settings.before_compiling(settings);
        kept = kept_name(use, settings);  // the machine may have been measured
    }
    const fs::path artefact = settings.models_directory / kept.whole;
    create_folders(settings.models_directory);
    if (settings.on_compile) settings.on_compile(artefact);
    use.compile(artefact, compile_settings(settings));
    if (kept_name(use, settings).whole != kept.whole) {
        std::error_code error;
        fs::remove(artefact, error);
        throw Error(use.model.string(), "", "changed while it was compiled", "try again when it is complete");
    }
    remove_older(settings.models_directory, kept);
    use.open(artefact);
    if (const auto limit = model_limit(settings.models_directory))
        for (const KeptModel& evicted : evict_models(settings.models_directory, *limit, artefact))
            if (settings.on_evict) settings.on_evict(evicted.file);
}

}  // namespace tessera
