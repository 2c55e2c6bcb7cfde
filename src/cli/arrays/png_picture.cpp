#include "cli/arrays/png_picture.h"

#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "support/error.h"
#include "support/printable.h"

// libpng reports an error by a function that does not return. It jumps back to where reading began, across
// frames of C alone: the code between setjmp and the jump has no object with a destructor.

namespace tessera::arrays {
namespace {

constexpr size_t kSignatureBytes = 8;
/// Limits on one part beside the pixels, and on their number: no picture needs as much.
constexpr png_alloc_size_t kMostChunkBytes = 1 << 20;
constexpr png_uint_32 kMostChunks = 100;

struct Reading {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::span<const std::byte> rest;
    std::string problem;

    Reading() = default;
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
    static_cast<Reading*>(png_get_error_ptr(png))->problem = message;
    png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t count) {
    auto& reading = *static_cast<Reading*>(png_get_io_ptr(png));
    if (count > reading.rest.size()) png_error(png, "the file is cut off");
    std::memcpy(to, reading.rest.data(), count);
    reading.rest = reading.rest.subspan(count);
}

[[noreturn]] void refuse(const Reading& reading, const std::string& where) {
    throw Error(where, "", fmt::format("is a damaged PNG image: {}", printable(reading.problem)));
}

/// The header, and how pixels are to be read. False after an error.
bool read_header(Reading& reading) {
    if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
    png_set_read_fn(reading.png, &reading, read_bytes);
    png_set_chunk_malloc_max(reading.png, kMostChunkBytes);
    png_set_chunk_cache_max(reading.png, kMostChunks);
    png_read_info(reading.png, reading.info);
    png_set_expand(reading.png);
    png_set_interlace_handling(reading.png);
    png_read_update_info(reading.png, reading.info);
    return true;
}

bool read_pixels(Reading& reading, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
    png_read_image(reading.png, rows);
    png_read_end(reading.png, nullptr);
    return true;
}

}  // namespace

bool is_png(std::span<const std::byte> file) {
    return file.size() >= kSignatureBytes &&
           png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, kSignatureBytes) == 0;
}

Picture read_png(std::span<const std::byte> file, int64_t most_pixels, const std::string& where) {
    Reading reading;
    reading.rest = file;
    reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_error, on_warning);
    if (reading.png != nullptr) reading.info = png_create_info_struct(reading.png);
    TESSERA_CHECK(reading.info != nullptr, "libpng {}", PNG_LIBPNG_VER_STRING);
    if (!read_header(reading)) refuse(reading, where);
    if (png_get_bit_depth(reading.png, reading.info) > 8)
        throw Error(where, "", "has 16 bits a channel, expected up to 8",
                    "save it with 8 bits a channel, or give its numbers as a NumPy file");
    Picture picture{.width = png_get_image_width(reading.png, reading.info),
                    .height = png_get_image_height(reading.png, reading.info),
                    .channels = png_get_channels(reading.png, reading.info),
                    .pixels = {}};
    // Neither product overflows: libpng has read extents of up to a million.
    if (picture.width * picture.height > most_pixels)
        throw Error(where, "",
                    fmt::format("has {} x {} pixels, expected at most {} in all", picture.width,
                                picture.height, most_pixels));
    const auto row_bytes = static_cast<size_t>(picture.width * picture.channels);
    TESSERA_CHECK(png_get_rowbytes(reading.png, reading.info) == row_bytes, "{}", row_bytes);
    picture.pixels.resize(row_bytes * static_cast<size_t>(picture.height));
    std::vector<png_bytep> rows;
    for (int64_t y = 0; y < picture.height; ++y)
        rows.push_back(picture.pixels.data() + row_bytes * static_cast<size_t>(y));
    if (!read_pixels(reading, rows.data())) refuse(reading, where);
    return picture;
}

}  // namespace tessera::arrays
