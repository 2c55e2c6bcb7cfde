#include "support/kept_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "support/atomic_file.h"
#include "support/output_place.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

struct Kept {
    int64_t last_used;
    fs::path file;
    uint64_t bytes;
};

/// The one that was used last is the first.
std::vector<Kept> kept_in(const fs::path& folder) {
    std::vector<Kept> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat status {};
        if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        all.push_back({status.st_mtim.tv_sec * INT64_C(1'000'000'000) + status.st_mtim.tv_nsec, entry.path(),
                       static_cast<uint64_t>(status.st_size)});
    }
    std::ranges::sort(all, [](const Kept& a, const Kept& b) {
        return std::tie(b.last_used, a.file) < std::tie(a.last_used, b.file);
    });
    return all;
}

}  // namespace

std::optional<std::string> kept_file(const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    std::string content(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) return std::nullopt;
    (void)::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
    return content;
}

void keep_file(const fs::path& file, std::string_view content, uint64_t most) {
    create_folders(file.parent_path());
    write_file(file, content);
    uint64_t sum = 0;
    for (const Kept& kept : kept_in(file.parent_path())) {
        sum += kept.bytes;
        std::error_code error;
        if (sum > most && kept.file != file) fs::remove(kept.file, error);
    }
}

}  // namespace tessera
