#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

/// Files and folders that exist only while a process works on them. A lock says that it still does: the
/// system releases it however the process ends, so that the next one can clear the remains of a killed one.
namespace tessera {

/// Locks an open file or folder that this process has just made. False if another process is about to remove
/// it, or has done so; true also on file systems without locks.
bool claim(int descriptor);

/// Removes from `folder` unlocked files or folders of this user that have a name of the kind.
/// Those that cannot be removed stay.
void remove_left_over(const std::filesystem::path& folder, std::filesystem::file_type type,
                      const std::function<bool(std::string_view)>& is_of_kind);

}  // namespace tessera
