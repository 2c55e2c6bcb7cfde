#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/scratch_folder.h"

namespace tessera::cli {

/// The user's cache, where results are kept from one run to the next: `code`, `models`, `machines`.
class CacheFolders {
public:
    /// @param root  may be missing, or be the empty path: there is none then
    explicit CacheFolders(std::filesystem::path root) : root_(std::move(root)) {}

    /// Where one that was kept would be; nothing is made. Relative to nothing where there is no cache.
    const std::filesystem::path& root() const { return root_; }

    /// Makes the folder. False where it cannot be made or written.
    bool is_writable(const std::string& name) const;

    /// A folder to write to: that of the cache, or else one in the folder for temporary files, which goes
    /// with this object. That is said once.
    /// @throws Error where neither can be written
    std::filesystem::path writable(const std::string& name);

private:
    std::filesystem::path root_;
    std::unique_ptr<ScratchFolder> temporary_;
};

}  // namespace tessera::cli
