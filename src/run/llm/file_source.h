#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/mapped_file.h"

namespace tessera::runtime {
struct NamedFile;
}

namespace tessera::llm {

/// Files that belong together, by name: those in a folder, or those that an artefact carries.
class FileSource {
public:
    explicit FileSource(std::filesystem::path folder);
    /// `files` must outlive the source; `where` names what they are in.
    FileSource(std::span<const runtime::NamedFile> files, std::string where);

    bool contains(std::string_view name) const;
    /// The content; lives as long as the source. @throws Error if it is missing or cannot be read
    std::string_view read(std::string_view name);
    /// The place of a file, or of all of them where `name` is empty, as errors name it.
    std::string where(std::string_view name = {}) const;

private:
    const runtime::NamedFile* find(std::string_view name) const;

    std::filesystem::path folder_;
    std::vector<MappedFile> mapped_;
    std::span<const runtime::NamedFile> files_;
    bool is_folder_;
};

}  // namespace tessera::llm
