#include "cli/arrays/input_file.h"

#include <span>
#include <utility>

#include "cli/arrays/npz_archive.h"
#include "compiler/programs/bind_symbols.h"
#include "support/error.h"

namespace tessera::arrays {
namespace {

/// The most that a member of an archive has beside its elements.
constexpr uint64_t kMostHeaderBytes = 1 << 16;
/// An image larger than that is no input of any model.
constexpr int64_t kMostPixels = int64_t{1} << 28;

/// The array that a call takes under a name.
struct Taken {
    ElementType element;
    std::vector<Dim> shape;
};

Taken taken(const runtime::Manifest& manifest, const std::string& name, const std::string& where) {
    for (const auto* inputs : {&manifest.inputs, &manifest.empty_inputs})
        for (const runtime::Manifest::Tensor& input : *inputs)
            if (input.array_name() == name) return {input.element, programs::array_shape(input)};
    for (const runtime::Manifest::State& state : manifest.states)
        if (state.array_name() == name) return {state.element, programs::array_shape(state)};
    throw Error(where, name, "is no input of the program");
}

/// Bytes of the largest array that a call takes.
uint64_t most_bytes(const runtime::Manifest& manifest, const Taken& taken) {
    std::vector<int64_t> highest;
    for (const DimSymbol& symbol : manifest.symbols) highest.push_back(symbol.high);
    const auto bytes = runtime::byte_size(manifest, taken.element, taken.shape, highest);
    constexpr uint64_t kWidest = 2;  // BF16 is F32 in the file
    return bytes ? kWidest * static_cast<uint64_t>(*bytes) + kMostHeaderBytes : UINT64_MAX;
}

}  // namespace

InputFile InputFile::open(const std::filesystem::path& path, const std::string& name,
                          const runtime::Manifest& manifest, const PixelRanges& ranges) {
    InputFile result;
    result.file_ = MappedFile::open(path);
    const std::string where = path.string();
    const std::span<const std::byte> bytes = result.file_.bytes();
    const bool is_picture = is_png(bytes);
    if (!is_picture && !ranges.empty())
        throw Error(where, name, "is no PNG image, and --pixels is for images", "leave it out",
                    ErrorKind::kUsage);
    if (is_picture) {
        const Taken input = taken(manifest, name, where);
        PictureArray picture = picture_array(read_png(bytes, kMostPixels, where), ranges, input.element,
                                             input.shape, name, where);
        result.unpacked_ = import::npy_bytes(input.element, picture.elements);
        result.array_ = {where, std::string(import::npy_type(input.element)), std::move(picture.shape),
                         result.unpacked_};
    } else if (is_npz(bytes)) {
        result.unpacked_ = npz_member(bytes, name, most_bytes(manifest, taken(manifest, name, where)), where);
        result.array_ = import::npy_array(result.unpacked_, where);
    } else {
        result.array_ = import::npy_array(bytes, where);
    }
    return result;
}

}  // namespace tessera::arrays
