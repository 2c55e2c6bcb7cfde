#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <png.h>

namespace tessera::test {

/// A PNG image as libpng writes it. @param format such as PNG_FORMAT_RGB @param samples row by row; of a
/// palette its indices @param colours of the palette
inline std::string png_bytes(png_uint_32 width, png_uint_32 height, png_uint_32 format,
                             const std::vector<png_byte>& samples,
                             const std::vector<png_byte>& colours = {}) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    image.colormap_entries = static_cast<png_uint_32>(colours.size() / 3);
    const void* palette = colours.empty() ? nullptr : colours.data();
    png_alloc_size_t size = 0;
    png_image_write_to_memory(&image, nullptr, &size, 0, samples.data(), 0, palette);
    std::string bytes(size, '\0');
    png_image_write_to_memory(&image, bytes.data(), &size, 0, samples.data(), 0, palette);
    bytes.resize(size);
    return bytes;
}

}  // namespace tessera::test
