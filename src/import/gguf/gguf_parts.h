#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "import/gguf/gguf_file.h"

namespace tessera::import {

/// A model in GGUF files: in one, or in the parts that llama-gguf-split makes of it,
///
///     NAME-00001-of-00003.gguf    metadata with split.no 0, split.count 3; some tensors
///     NAME-00002-of-00003.gguf    split.no 1, split.count 3; further tensors
///     NAME-00003-of-00003.gguf    ...
class GgufParts {
public:
    /// Opens all parts, whichever of them `path` is.
    /// @throws Error naming the file that is missing, damaged, or belongs to another model.
    static GgufParts open(const std::filesystem::path& path);
    /// The first part alone, which has the metadata.
    static GgufFile open_first(const std::filesystem::path& path);
    /// The files of a model by their names, the first part first; `path` alone where its name is not that of
    /// a part. They need not exist.
    static std::vector<std::filesystem::path> names(const std::filesystem::path& path);
    /// "NAME-00002-of-00003" -> "NAME".
    static std::string_view model_name(std::string_view stem);

    /// Puts parts together that have been opened, in their order. @throws as open.
    explicit GgufParts(std::vector<GgufFile> parts);

    const GgufFile& first() const { return *parts_.front(); }
    std::span<const std::shared_ptr<const GgufFile>> all() const { return parts_; }
    /// Null when there is none of this name.
    const GgufTensor* find_tensor(std::string_view name) const;

private:
    std::vector<std::shared_ptr<const GgufFile>> parts_;
};

}  // namespace tessera::import
