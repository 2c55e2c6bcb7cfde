#include "support/output_place.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

/// NAME_MAX is 255 almost everywhere, 143 where names are encrypted.
constexpr size_t kShortName = 64;

[[noreturn]] void refuse(const fs::path& path, std::string_view action, int reason) {
    throw Error(path.string(), "", fmt::format("cannot {} the file: {}", action, std::strerror(reason)));
}

bool may(const fs::path& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

fs::path folder_of(const fs::path& path) {
    const fs::path parent = path.parent_path();
    return parent.empty() ? "." : parent;
}

/// An entry of /proc/PID/fd looks like a link, but its text need not be a path.
bool is_of_kernel(const fs::path& link) {
    struct statfs status {};
    return ::statfs(folder_of(link).c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

/// 3 of /proc/self/fd/3, however the folder is spelled.
std::optional<int> own_descriptor(const fs::path& path) {
    const std::string name = path.filename().string();
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
    std::error_code failed;
    const fs::path folder = fs::canonical(folder_of(path), failed);
    if (failed) return std::nullopt;
    for (const char* own : {"/proc/self/fd", "/proc/thread-self/fd"})
        if (folder == fs::canonical(own, failed) && !failed) return number;
    return std::nullopt;
}

/// The end of a chain of links, which may be missing.
fs::path followed(const fs::path& path) {
    fs::path at = path;
    for (int links = 0;; ++links) {
        struct stat status {};
        if (::lstat(at.c_str(), &status) != 0 || !S_ISLNK(status.st_mode) || is_of_kernel(at)) return at;
        std::error_code failed;
        const fs::path target = fs::read_symlink(at, failed);
        if (failed || links == kMostLinks) refuse(path, "create", failed ? failed.value() : ELOOP);
        at = at.parent_path() / target;  // the target alone where it is absolute
    }
}

OutputPlace of_descriptor(const fs::path& path, const fs::path& at, int descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0) refuse(path, "write", errno);
    if ((flags & O_ACCMODE) == O_RDONLY) throw Error(path.string(), "", "is not open for writing");
    return {.kind = OutputPlace::Kind::kDescriptor, .path = at, .descriptor = descriptor, .replaced = {}};
}

OutputPlace of_new_file(const fs::path& path, const fs::path& at) {
    if (!at.has_filename()) throw Error(path.string(), "", "names a folder, expected a file to write");
    if (!may(folder_of(at), W_OK | X_OK)) refuse(path, "create", errno);
    return {.kind = OutputPlace::Kind::kFile, .path = at, .replaced = {}};
}

}  // namespace

OutputPlace output_place(const fs::path& path) {
    if (path.empty()) throw Error("", "", "the path of a file to write is empty");
    const fs::path at = followed(path);
    if (const auto descriptor = own_descriptor(at)) return of_descriptor(path, at, *descriptor);
    struct stat status {};
    if (::stat(at.c_str(), &status) != 0) {
        if (errno != ENOENT) refuse(path, "create", errno);
        return of_new_file(path, at);
    }
    if (S_ISDIR(status.st_mode)) throw Error(path.string(), "", "is a folder, expected a file to write");
    if (S_ISSOCK(status.st_mode))
        throw Error(path.string(), "", "is a socket, expected a file, a pipe or a device to write");
    if (!may(at, W_OK)) refuse(path, "write", errno);
    if (!S_ISREG(status.st_mode) || is_of_kernel(at))
        return {.kind = OutputPlace::Kind::kStream, .path = at, .replaced = {}};
    const bool takes_files = may(folder_of(at), W_OK | X_OK);
    return {.kind = takes_files ? OutputPlace::Kind::kFile : OutputPlace::Kind::kInPlace,
            .path = at,
            .replaced = OutputPlace::Replaced{status.st_mode & 0777U, status.st_uid, status.st_gid}};
}

void check_output(const fs::path& path) {
    (void)output_place(path);
}

void create_folders(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    // A link to a folder is none to create_directories.
    std::error_code ignored;
    if (error && !fs::is_directory(folder, ignored))
        throw Error(folder.string(), "", fmt::format("cannot create the folder: {}", error.message()));
}

std::string_view short_name(std::string_view name) {
    if (name.size() <= kShortName) return name;
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    size_t end = kShortName;
    while (end > 0 && continues(name[end])) --end;
    // Names need not be UTF-8.
    return name.substr(0, kShortName - end < 4 ? end : kShortName);
}

}  // namespace tessera
