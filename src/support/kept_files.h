#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Files of a folder that hold what can be made again, each named after all that it was made from. Processes
/// may share the folder.
namespace tessera {

/// Bytes that `keep_file` leaves in a folder, at most.
inline constexpr uint64_t kMostKeptBytes = uint64_t{512} << 20;

/// Nothing if there is none that can be read. Notes that it is used now.
std::optional<std::string> kept_file(const std::filesystem::path& file);

/// The file appears whole, and its folder if there is none. Beyond `most` bytes the files of the folder go
/// that were not used for longest, but not this one.
/// @throws Error where it cannot be written
void keep_file(const std::filesystem::path& file, std::string_view content, uint64_t most = kMostKeptBytes);

}  // namespace tessera
