#include <algorithm>

#include "chip/partition/explore.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

/// Spaces that are read have points, each with a key of its own place.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const partition::ExploreSpace space = partition::parse_explore_space(
            fuzz::text_of(data, size), std::string(TESSERA_SOURCE_DIR) + "/docs/fuzz.toml");
        TESSERA_CHECK(space.points() > 0);
        const std::string header = space.header();
        for (const size_t point : {size_t{0}, space.points() - 1})
            TESSERA_CHECK(!partition::point_key(space, point).empty() && !header.empty());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("docs", ".toml");
}
