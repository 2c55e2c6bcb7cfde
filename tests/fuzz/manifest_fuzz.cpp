#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/runtime/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const runtime::Manifest manifest = runtime::parse_manifest(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(runtime::parse_manifest(runtime::print(manifest), "fuzz") == manifest);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {manifest_seed()};
}
