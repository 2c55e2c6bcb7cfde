#include "distribution/spmd/cluster.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

/// Every description that is read has levels and rates.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const spmd::Cluster cluster = spmd::parse_cluster(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(!cluster.levels.empty() && cluster.levels.size() == cluster.placement.rank());
        TESSERA_CHECK(cluster.flops_per_second > 0 && cluster.bytes_per_second > 0);
        for (const distribution::Level& level : cluster.placement.levels)
            TESSERA_CHECK(level.count >= 2 && level.seconds_per_byte > 0);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("machines/clusters", ".toml");
}
