#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The folder of models that were compiled on first use (tessera/open.h): what is in it, and how large it may
/// become.
namespace tessera {

/// Inside of the folder: digests of the files that models were made of (content_digests.h).
inline constexpr const char* kDigestsFolder = "digests";

struct KeptModel {
    std::filesystem::path file;
    std::string name;  ///< of the file, without its extension
    uint64_t bytes = 0;
    int64_t last_used = 0;  ///< nanoseconds since 1970: the time of modification, which every use renews
};

/// Those in `folder`, the last used one first; none if it is missing.
std::vector<KeptModel> kept_models(const std::filesystem::path& folder);

/// Notes that an artefact is used now. In a folder that cannot be written nothing happens.
void mark_used(const std::filesystem::path& artefact);

/// The bytes that all models together may have; empty: as many as they like.
/// @throws Error where the file that says it is damaged
std::optional<uint64_t> model_limit(const std::filesystem::path& folder);

/// Makes the folder if it is missing. @throws Error where it cannot be written
void set_model_limit(const std::filesystem::path& folder, std::optional<uint64_t> bytes);

/// Removes those that were not used for longest, until the rest is within `limit`; not `spared`, even if it
/// is too large by itself. A process that runs one keeps it until its end.
/// @return the removed models
std::vector<KeptModel> evict_models(const std::filesystem::path& folder, uint64_t limit,
                                    const std::filesystem::path& spared = {});

}  // namespace tessera
