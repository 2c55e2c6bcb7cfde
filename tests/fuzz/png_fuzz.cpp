#include "cli/arrays/png_bytes.h"
#include "cli/arrays/png_picture.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        constexpr int64_t kMostPixels = 1 << 20;
        const auto file = std::as_bytes(std::span(data, size));
        if (!arrays::is_png(file)) return;
        const arrays::Picture picture = arrays::read_png(file, kMostPixels, "fuzz");
        TESSERA_CHECK(std::ssize(picture.pixels) == picture.width * picture.height * picture.channels);
        fuzz::read_ends(std::as_bytes(std::span(picture.pixels)));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    using test::png_bytes;
    return {png_bytes(3, 2, PNG_FORMAT_RGB, std::vector<png_byte>(18, 9)),
            png_bytes(2, 2, PNG_FORMAT_GA, {1, 2, 3, 4, 5, 6, 7, 8}),
            png_bytes(9, 1, PNG_FORMAT_RGB_COLORMAP, {0, 1, 0, 1, 1, 0, 0, 0, 1}, {1, 2, 3, 4, 5, 6}),
            png_bytes(1, 1, PNG_FORMAT_LINEAR_Y, {1, 2})};
}
