#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "cli/verb_of_parts.h"
#include "compiler/api/model_cache.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/note.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

fs::path models_folder(const Environment& environment) {
    if (environment.cache->root().empty())
        throw Error("", "", "there is no folder for the cache: neither XDG_CACHE_HOME nor HOME is set");
    return environment.cache->root() / "models";
}

uint64_t bytes_below(const fs::path& folder) {
    uint64_t sum = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error))
        if (entry.is_regular_file(error)) sum += entry.file_size(error);
    return sum;
}

/// Powers of 1024, as `du -h` counts.
std::string shown_bytes(uint64_t bytes) {
    constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
    return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

/// "20G", "500 MiB", "1.5T"; empty for another text.
std::optional<uint64_t> parse_size(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !(value >= 0)) return std::nullopt;
    std::string_view unit(end, text.data() + text.size());
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    double factor = 1;
    if (!unit.empty()) {
        const size_t power = std::string_view("KMGT").find(
            static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
        if (power == std::string_view::npos) return std::nullopt;
        for (size_t i = 0; i <= power; ++i) factor *= 1024;
        unit.remove_prefix(1);
        if (!unit.empty() && unit != "iB" && unit != "B") return std::nullopt;
    }
    // No file system is larger, and the number would not fit.
    constexpr double kMost = 0x1p60;
    return value * factor <= kMost ? std::optional(static_cast<uint64_t>(value * factor)) : std::nullopt;
}

std::string shown_time(int64_t nanoseconds, const char* format,
                       std::tm* (*convert)(const time_t*, std::tm*)) {
    const time_t seconds = nanoseconds / INT64_C(1'000'000'000);
    std::tm parts{};
    char text[32] = {};
    if (convert(&seconds, &parts) == nullptr || std::strftime(text, sizeof text, format, &parts) == 0)
        return "?";
    return text;
}

/// The name of the compiled model. A file that no longer opens is listed too, since it takes space.
std::string contents_of(const KeptModel& model) {
    try {
        const runtime::Artefact artefact = runtime::Artefact::open(model.file);
        return printable(artefact.manifest().model);
    } catch (const Error&) {
        return "damaged, or of another version";
    }
}

std::string list_as_json(const std::vector<KeptModel>& models, std::optional<uint64_t> limit, uint64_t code) {
    nlohmann::ordered_json document;
    document["models"] = nlohmann::ordered_json::array();
    uint64_t sum = 0;
    for (const KeptModel& model : models) {
        document["models"].push_back({{"name", valid_utf8(model.name)},
                                      {"model", contents_of(model)},
                                      {"bytes", model.bytes},
                                      {"last_used", shown_time(model.last_used, "%FT%TZ", gmtime_r)}});
        sum += model.bytes;
    }
    document["bytes"] = sum;
    document["limit"] = limit ? nlohmann::ordered_json(*limit) : nlohmann::ordered_json();
    document["code_bytes"] = code;
    return document.dump(2) + "\n";
}

std::string list_as_text(const std::vector<KeptModel>& models, std::optional<uint64_t> limit, uint64_t code) {
    size_t width = std::string_view("NAME").size();
    for (const KeptModel& model : models) width = std::max(width, printable(model.name).size());
    std::string text = fmt::format("{:<{}}  {:>10}  {:<16}  MODEL\n", "NAME", width, "SIZE", "LAST USED");
    uint64_t sum = 0;
    for (const KeptModel& model : models) {
        text += fmt::format("{:<{}}  {:>10}  {:<16}  {}\n", printable(model.name), width,
                            shown_bytes(model.bytes), shown_time(model.last_used, "%F %R", localtime_r),
                            contents_of(model));
        sum += model.bytes;
    }
    return text + fmt::format("{} {}, {}, {}; compiled code, from which they were made: {}\n", models.size(),
                              models.size() == 1 ? "model" : "models", shown_bytes(sum),
                              limit ? "at most " + shown_bytes(*limit) : "without a limit",
                              shown_bytes(code));
}

Verb list_part() {
    return {.name = "list",
            .help = "show the models that were compiled on first use, the last used one first",
            .examples = {"tessera cache list", "tessera cache list --json"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto json = std::make_shared<bool>(false);
                app.add_flag("--json", *json, "print them as a document");
                return [json, &environment] {
                    const fs::path folder = models_folder(environment);
                    const std::vector<KeptModel> models = kept_models(folder);
                    const uint64_t code = bytes_below(environment.cache->root() / "code");
                    const std::string text =
                        (*json ? list_as_json : list_as_text)(models, model_limit(folder), code);
                    std::fwrite(text.data(), 1, text.size(), stdout);
                    return 0;
                };
            }};
}

struct RemoveArguments {
    std::vector<std::string> names;
    bool all = false;
};

/// The one model that has this name, or whose name begins so.
KeptModel find_kept(const std::vector<KeptModel>& models, const std::string& name) {
    std::vector<KeptModel> found;
    for (const KeptModel& model : models) {
        if (model.name == name) return model;
        if (model.name.starts_with(name)) found.push_back(model);
    }
    if (found.empty())
        throw Error("", name, "is no model in the cache", "`tessera cache list` names those that are");
    if (found.size() > 1)
        throw Error("", name, fmt::format("begins the names of {} models", found.size()),
                    fmt::format("give more of one, such as {}", found.front().name));
    return found.front();
}

void remove_kept(const KeptModel& model) {
    std::error_code error;
    fs::remove(model.file, error);
    if (error) throw Error(model.file.string(), "", "cannot be removed: " + error.message());
    note("removed {}, {}", printable(model.name), shown_bytes(model.bytes));
}

/// Code is found by its content and can always be compiled again.
void remove_code(const fs::path& folder) {
    const uint64_t bytes = bytes_below(folder);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        fs::remove_all(entry.path(), error);
        if (error) throw Error(entry.path().string(), "", "cannot be removed: " + error.message());
    }
    if (bytes > 0) note("removed compiled code, {}", shown_bytes(bytes));
}

int remove_models(const RemoveArguments& options, const Environment& environment) {
    const std::vector<KeptModel> models = kept_models(models_folder(environment));
    std::vector<KeptModel> doomed = options.all ? models : std::vector<KeptModel>();
    if (!options.all)
        for (const std::string& name : options.names) doomed.push_back(find_kept(models, name));
    for (const KeptModel& model : doomed) remove_kept(model);
    if (options.all) {
        remove_code(environment.cache->root() / "code");
        std::error_code error;
        fs::remove_all(models_folder(environment) / kDigestsFolder, error);
    }
    return 0;
}

Verb remove_part() {
    return {.name = "rm",
            .help = "remove compiled models; the next use compiles them again",
            .examples = {"tessera cache rm SmolLM2-135M-Instruct", "tessera cache rm --all"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<RemoveArguments>();
                CLI::Option* names = app.add_option("NAME", options->names,
                                                    "as `cache list` shows it, or the beginning of one name")
                                         ->check(not_empty());
                app.add_flag("--all", options->all, "all models, and the code from which they were made")
                    ->excludes(names);
                return [options, &environment] {
                    if (options->names.empty() && !options->all)
                        throw Error("", "NAME", "is missing", "or give --all", ErrorKind::kUsage);
                    return remove_models(*options, environment);
                };
            }};
}

int limit_models(const std::string& size, const Environment& environment) {
    const fs::path folder = models_folder(environment);
    if (size.empty()) {
        const std::optional<uint64_t> limit = model_limit(folder);
        const std::string text = (limit ? shown_bytes(*limit) : "none") + "\n";
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    }
    const std::optional<uint64_t> bytes = size == "none" ? std::nullopt : parse_size(size);
    if (size != "none" && !bytes)
        throw Error("", "SIZE", fmt::format("is \"{}\", expected a size as 20G or 500M, or none", size), "",
                    ErrorKind::kUsage);
    set_model_limit(folder, bytes);
    if (bytes)
        for (const KeptModel& model : evict_models(folder, *bytes))
            note("removed {}, {}", printable(model.name), shown_bytes(model.bytes));
    return 0;
}

Verb limit_part() {
    return {
        .name = "limit",
        .help = "say how much space compiled models may take, from now on",
        .examples = {"tessera cache limit 20G", "tessera cache limit none", "tessera cache limit"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto size = std::make_shared<std::string>();
            app.add_option(
                   "SIZE", *size,
                   "of all compiled models together, in K, M, G or T (powers of 1024), or none; those that "
                   "were not used for longest go first, now and after each compilation. Without it the "
                   "limit is shown")
                ->check(not_empty());
            return [size, &environment] { return limit_models(*size, environment); };
        }};
}

}  // namespace

Verb cache_verb() {
    return verb_of_parts("cache", "list, remove and limit the models that were compiled on first use",
                         {list_part(), remove_part(), limit_part()});
}

}  // namespace tessera::cli
