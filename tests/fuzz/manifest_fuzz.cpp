#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "runtime/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const Manifest manifest = parse_manifest(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(parse_manifest(print(manifest), "fuzz") == manifest);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {manifest_seed()};
}
