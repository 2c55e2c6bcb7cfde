#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::arrays {

/// Pixels as they are in a file, without a change of colours.
struct Picture {
    int64_t width = 0, height = 0;
    int64_t channels = 0;         ///< 1: grey, 2: grey and alpha, 3: red, green and blue, 4: and alpha
    std::vector<uint8_t> pixels;  ///< row by row, the channels of a pixel beside each other
};

bool is_png(std::span<const std::byte> file);
/// A PNG image of up to 8 bits a channel; palettes become colours, fewer bits the 256 levels. The file may be
/// hostile. @param most_pixels that it may have @throws Error naming `where`
Picture read_png(std::span<const std::byte> file, int64_t most_pixels, const std::string& where);

}  // namespace tessera::arrays
