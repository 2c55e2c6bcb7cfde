#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace tessera {

/// The place to which a path leads for writing, once all links are followed.
struct OutputPlace {
    /// Properties of the existing regular file, which a new one takes over.
    struct Replaced {
        mode_t mode;
        uid_t owner;
        gid_t group;
    };

    enum class Kind {
        kFile,        ///< a regular file, or none yet: a new one takes the name
        kInPlace,     ///< a regular file whose folder takes no new files
        kStream,      ///< a pipe or a device, which is opened and written in order
        kDescriptor,  ///< open already in this process: /dev/stdout, /dev/fd/3
    };

    Kind kind = Kind::kFile;
    std::filesystem::path path;  ///< with no link at its end
    int descriptor = -1;         ///< of kDescriptor
    std::optional<Replaced> replaced;
};

/// @throws Error naming `path` where nothing can be written there: it is a folder or a socket, its folder is
/// missing, a permission is lacking.
OutputPlace output_place(const std::filesystem::path& path);

/// The same question, asked before the work whose result goes there.
/// @throws Error as output_place does
void check_output(const std::filesystem::path& path);

/// Makes a folder and those above it. @throws Error that names it where that cannot be
void create_folders(const std::filesystem::path& folder);

/// A prefix of the name of a file, short enough that a name with a suffix is allowed; whole characters of
/// UTF-8.
std::string_view short_name(std::string_view name);

}  // namespace tessera
