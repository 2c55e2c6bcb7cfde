#include <cstring>
#include <utility>

#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_parts.h"
#include "import/gguf/gguf_weights.h"

namespace {

/// The length of the first part in two bytes, then both parts.
std::string joined(const std::string& first, const std::string& second) {
    const auto length = static_cast<uint16_t>(first.size());
    std::string all(sizeof length, '\0');
    std::memcpy(all.data(), &length, sizeof length);
    return all + first + second;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    uint16_t length = 0;
    if (size < sizeof length) return 0;
    std::memcpy(&length, data, sizeof length);
    const std::span<const std::byte> all = std::as_bytes(std::span(data, size)).subspan(sizeof length);
    const size_t first = std::min<size_t>(length, all.size());
    return fuzz::accepts_or_throws_error([&] {
        std::vector<import::GgufFile> files;
        files.push_back(import::GgufFile::parse(all.subspan(0, first), "first.gguf"));
        if (first < all.size()) files.push_back(import::GgufFile::parse(all.subspan(first), "second.gguf"));
        const import::GgufParts parts(std::move(files));
        import::Findings findings;
        (void)import::read_gguf_config(parts.first(), parts, {}, findings);
        const import::GgufWeights weights(parts);
        for (const std::string& name : weights.names()) fuzz::read_ends(weights.find(name)->bytes);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    const std::vector<std::string> parts = gguf_part_seeds();
    return {joined(parts.at(0), parts.at(1)), joined(gguf_seeds().back(), "")};
}
