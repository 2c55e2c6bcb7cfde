#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// A folder `PARENT/KIND-xxxxxx` of one process, which goes with the object. Folders of the same kind that
/// killed processes have left are cleared first.
class ScratchFolder {
public:
    /// @throws Error where `parent` takes no folder
    ScratchFolder(const std::filesystem::path& parent, const std::string& kind);
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int descriptor_ = -1;  ///< holds the lock
};

}  // namespace tessera
