#include "compiler/api/model_cache.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/output_place.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLimitFile = "limit";
constexpr std::string_view kArtefact = ".tsr";

}  // namespace

std::vector<KeptModel> kept_models(const fs::path& folder) {
    std::vector<KeptModel> models;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat status {};
        if (entry.path().extension() != kArtefact || ::stat(entry.path().c_str(), &status) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        models.push_back(
            {.file = entry.path(),
             .name = entry.path().stem().string(),
             .bytes = static_cast<uint64_t>(status.st_size),
             .last_used = status.st_mtim.tv_sec * INT64_C(1'000'000'000) + status.st_mtim.tv_nsec});
    }
    std::sort(models.begin(), models.end(), [](const KeptModel& a, const KeptModel& b) {
        return a.last_used != b.last_used ? a.last_used > b.last_used : a.name < b.name;
    });
    return models;
}

void mark_used(const fs::path& artefact) {
    (void)::utimensat(AT_FDCWD, artefact.c_str(), nullptr, 0);
}

std::optional<uint64_t> model_limit(const fs::path& folder) {
    const fs::path file = folder / kLimitFile;
    if (std::error_code error; !fs::exists(file, error)) return std::nullopt;
    const MappedFile mapped = MappedFile::open(file);
    const std::string_view text = mapped.text();
    uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || std::string_view(end, text.data() + text.size()) != "\n")
        throw Error(file.string(), "", "holds no number of bytes", "set it again with `tessera cache limit`");
    return bytes;
}

void set_model_limit(const fs::path& folder, std::optional<uint64_t> bytes) {
    create_folders(folder);
    const fs::path file = folder / kLimitFile;
    if (!bytes) {
        std::error_code error;
        fs::remove(file, error);
        if (error) throw Error(file.string(), "", "cannot be removed: " + error.message());
        return;
    }
    AtomicFile out(file);
    out.write(fmt::format("{}\n", *bytes));
    out.commit();
}

std::vector<KeptModel> evict_models(const fs::path& folder, uint64_t limit, const fs::path& spared) {
    std::vector<KeptModel> models = kept_models(folder);
    uint64_t sum = 0;
    for (const KeptModel& model : models) sum += model.bytes;
    std::vector<KeptModel> removed;
    for (; sum > limit && !models.empty(); models.pop_back()) {
        const KeptModel& oldest = models.back();
        std::error_code error;
        if (oldest.file == spared || !fs::remove(oldest.file, error)) continue;
        sum -= oldest.bytes;
        removed.push_back(oldest);
    }
    return removed;
}

}  // namespace tessera
