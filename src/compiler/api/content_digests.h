#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// Digests of files by their contents, each of which is read once: it is kept in a folder with what the
/// system says of the file, and counts until the system says something else.
///
/// Size and time of modification are not enough: `cp -p`, `rsync -t`, `touch -r` and packages set the time.
/// The time of change (ctime) cannot be set by any program, and the system renews it with every write and
/// rename. Three cases are left, in which a file is read again each time:
///  - a time of change that is not yet a minute old: clocks have steps, and pages that a program writes
///    through a mapping are noticed only once the system has written them out;
///  - file systems that do not keep such a time, or not for mappings: FAT, network, memory;
///  - small files, which are read faster than looked up.
class ContentDigests {
public:
    /// @param folder of the kept digests; made when the first is written. Empty: none are kept
    explicit ContentDigests(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// The digest of the contents. A large file is read by all processors.
    /// @throws Error if it cannot be read, or changes meanwhile
    std::string digest(const std::filesystem::path& file) const;

private:
    std::filesystem::path folder_;
};

}  // namespace tessera
