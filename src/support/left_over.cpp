#include "support/left_over.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;

void remove_unlocked(const fs::path& path, fs::file_type type) {
    // Neither a pipe nor a link is ours.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return;
    struct stat status {};
    const bool is_ours =
        ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
        (type == fs::file_type::directory ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode));
    std::error_code ignored;
    if (is_ours && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
    ::close(descriptor);
}

}  // namespace

bool claim(int descriptor) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

void remove_left_over(const fs::path& folder, fs::file_type type,
                      const std::function<bool(std::string_view)>& is_of_kind) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (is_of_kind(entry->path().filename().native())) found.push_back(entry->path());
    for (const fs::path& path : found) remove_unlocked(path, type);
}

}  // namespace tessera
