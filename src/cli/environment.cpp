#include "cli/environment.h"

#include <cstdlib>
#include <system_error>

#include <pwd.h>
#include <unistd.h>

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// XDG Base Directory Specification 0.8: a relative path in these variables is to be ignored.
fs::path absolute_variable(const char* name) {
    const fs::path value = variable(name);
    return value.is_absolute() ? value : fs::path();
}

fs::path home_directory() {
    if (fs::path home = absolute_variable("HOME"); !home.empty()) return home;
    const passwd* user = getpwuid(getuid());
    return user == nullptr || user->pw_dir == nullptr ? fs::path() : fs::path(user->pw_dir);
}

fs::path find_cache_directory() {
    if (fs::path cache = absolute_variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "tessera";
    const fs::path home = home_directory();
    return home.empty() ? fs::path() : home / ".cache" / "tessera";
}

fs::path find_include_directory() {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    fs::path installed = executable.parent_path().parent_path() / "include";
    if (!error && fs::is_directory(installed / "tessera" / "ntt", error)) return installed;
    return fs::path(TESSERA_SOURCE_DIR) / "include";
}

}  // namespace

Environment read_environment() {
    return {.search_path = variable("PATH"),
            .cache = std::make_shared<CacheFolders>(find_cache_directory()),
            .include_directory = find_include_directory(),
            .is_launched_by_mpi = !variable("OMPI_COMM_WORLD_SIZE").empty(),
            .terminal = isatty(STDERR_FILENO) != 0 ? stderr : nullptr};
}

}  // namespace tessera::cli
