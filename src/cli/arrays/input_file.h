#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/arrays/picture_array.h"
#include "import/npy/npy_file.h"
#include "run/runtime/manifest.h"

namespace tessera::arrays {

/// The array of an input that a file gives: a NumPy file, an archive of them, or a PNG image, told apart by
/// how they begin.
class InputFile {
public:
    /// @param name of the input or state @param ranges of pixels, for images alone
    /// @throws Error naming the file and what is wrong with it
    static InputFile open(const std::filesystem::path& path, const std::string& name,
                          const runtime::Manifest& manifest, const PixelRanges& ranges);

    /// As long as the file is kept.
    const import::NpyArray& array() const { return array_; }

private:
    MappedFile file_;
    std::vector<std::byte> unpacked_;
    import::NpyArray array_;
};

}  // namespace tessera::arrays
