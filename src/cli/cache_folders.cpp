#include "cli/cache_folders.h"

#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/note.h"
#include "support/output_place.h"

namespace tessera::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAdvice = "set XDG_CACHE_HOME to a folder that you may write";

}  // namespace

bool CacheFolders::is_writable(const std::string& name) const {
    if (root_.empty()) return false;
    const fs::path folder = root_ / name;
    std::error_code error;
    fs::create_directories(folder, error);
    return fs::is_directory(folder, error) &&
           ::faccessat(AT_FDCWD, folder.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0;
}

fs::path CacheFolders::writable(const std::string& name) {
    if (is_writable(name)) {
        remove_parts(root_ / name);
        return root_ / name;
    }
    if (!temporary_) {
        std::error_code error;
        const fs::path parent = fs::temp_directory_path(error);
        try {
            temporary_ = std::make_unique<ScratchFolder>(error ? fs::path("/tmp") : parent, "tessera-cache");
        } catch (const Error& failed) {
            throw Error(failed.where, "", failed.problem, std::string(kAdvice));
        }
        note("{}; what is compiled is kept in a temporary folder until the end of this run ({})",
             root_.empty() ? "there is no folder for the cache: neither XDG_CACHE_HOME nor HOME is set"
                           : fmt::format("{}: the cache cannot be written", (root_ / name).string()),
             kAdvice);
    }
    fs::path folder = temporary_->path() / name;
    create_folders(folder);
    return folder;
}

}  // namespace tessera::cli
