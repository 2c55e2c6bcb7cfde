#include "run/llm/file_source.h"

#include <utility>

#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/stand_in.h"

namespace tessera::llm {

FileSource::FileSource(std::filesystem::path folder) : folder_(std::move(folder)), is_folder_(true) {}

FileSource::FileSource(std::span<const runtime::NamedFile> files, std::string where)
    : folder_(std::move(where)), files_(files), is_folder_(false) {}

const runtime::NamedFile* FileSource::find(std::string_view name) const {
    for (const runtime::NamedFile& file : files_)
        if (file.name == name) return &file;
    return nullptr;
}

bool FileSource::contains(std::string_view name) const {
    return is_folder_ ? std::filesystem::exists(folder_ / name) : find(name) != nullptr;
}

std::string_view FileSource::read(std::string_view name) {
    if (is_folder_) {
        const std::string_view text = mapped_.emplace_back(MappedFile::open(folder_ / name)).text();
        refuse_stand_in(text, where(name));
        return text;
    }
    const runtime::NamedFile* file = find(name);
    if (file == nullptr) throw Error(where(), std::string(name), "is missing");
    return file->bytes;
}

std::string FileSource::where(std::string_view name) const {
    return name.empty() ? folder_.string() : (folder_ / name).string();
}

}  // namespace tessera::llm
