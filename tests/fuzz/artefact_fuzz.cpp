#include <cstring>

#include <xxhash.h>

#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/runtime/artefact.h"
#include "run/runtime/artefact_format.h"

namespace tessera::fuzz {
namespace {

using namespace runtime::artefact_format;

/// The same file with checksums that fit, so that the contents behind them are reached.
std::string signed_again(std::string bytes) {
    Header header;
    if (bytes.size() < sizeof(Header)) return bytes;
    std::memcpy(&header, bytes.data(), sizeof(Header));
    const size_t table = std::min<size_t>(header.sections, kMostSections) * sizeof(Section);
    if (table > bytes.size() - sizeof(Header)) return bytes;
    for (size_t at = sizeof(Header); at < sizeof(Header) + table; at += sizeof(Section)) {
        Section section;
        std::memcpy(&section, bytes.data() + at, sizeof(Section));
        if (section.offset > bytes.size() || section.size > bytes.size() - section.offset) continue;
        section.checksum = XXH3_64bits(bytes.data() + section.offset, section.size);
        std::memcpy(bytes.data() + at, &section, sizeof(Section));
    }
    header.file_size = bytes.size();
    header.checksum = 0;
    std::memcpy(bytes.data(), &header, sizeof(Header));
    header.checksum = XXH3_64bits(bytes.data(), sizeof(Header) + table);
    std::memcpy(bytes.data(), &header, sizeof(Header));
    return bytes;
}

void open(const std::string& bytes) {
    const InputFile input(bytes);
    const runtime::Artefact artefact = runtime::Artefact::open(input.path());
    artefact.verify_weights();
    artefact.check_host("x86_64", {});
}

}  // namespace
}  // namespace tessera::fuzz

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    const std::string bytes(fuzz::text_of(data, size));
    fuzz::accepts_or_throws_error([&] { fuzz::open(bytes); });
    return fuzz::accepts_or_throws_error([&] { fuzz::open(fuzz::signed_again(bytes)); });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return artefact_seeds();
}
