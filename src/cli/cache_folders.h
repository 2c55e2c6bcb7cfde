#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/scratch_folder.h"

namespace tessera::cli {

/// The user's cache, where results are kept from one run to the next: `code`, `models`, `machines`.
class CacheFolders {
public:
    /// @param root  may be missing; empty: there is no cache
    explicit CacheFolders(std::filesystem::path root) : root_(std::move(root)) {}

    /// The cache's folder, to look up what was kept; nothing is made. Empty if there is no cache.
    const std::filesystem::path& root() const { return root_; }

    /// Makes the folder. False where it cannot be made or written.
    bool is_writable(const std::string& name) const;

    /// A folder to write to: that of the cache, or else one in the folder for temporary files, which is
    /// noted once, and removed with this object.
    /// @throws Error where neither can be written
    std::filesystem::path writable(const std::string& name);

private:
    std::filesystem::path root_;
    std::unique_ptr<ScratchFolder> temporary_;
};

}  // namespace tessera::cli
