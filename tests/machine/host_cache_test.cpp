#include "machine/host_cache.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/temporary_folder.h"

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;

Machine with_rates(Machine machine) {
    machine.measured_with = "00ff";
    machine.memory.back().latency_seconds = 1e-7;
    machine.memory.back().read_bandwidth = {{.threads = 1, .bytes_per_second = 3e10, .prefetch_bytes = 512}};
    machine.units.front().peaks = {{.level = "registers", .operations_per_second = 1e11}};
    return machine;
}

class HostCache : public ::testing::Test {
protected:
    const fs::path& folder() const { return folder_.path(); }
    const Machine probed_ = probe_host();
    const Machine measured_ = with_rates(probed_);

private:
    TemporaryFolder folder_;
};

TEST_F(HostCache, IsEmptyAtFirst) {
    EXPECT_EQ(cached_host(folder(), probed_), std::nullopt);
    EXPECT_EQ(cached_host("/no/such/folder", probed_), std::nullopt);
}

TEST_F(HostCache, GivesBackWhatWasKept) {
    keep_host(folder(), probed_, measured_);
    EXPECT_EQ(cached_host(folder(), probed_), measured_);
    keep_host(folder(), probed_, probed_);
    EXPECT_EQ(cached_host(folder(), probed_), probed_);
}

TEST_F(HostCache, LeavesNothingBesideTheWholeFile) {
    keep_host(folder(), probed_, measured_);
    const fs::path file = host_cache_file(folder(), probed_);
    int files = 0;
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
        EXPECT_EQ(entry.path(), file);
        ++files;
    }
    EXPECT_EQ(files, 1);
}

TEST_F(HostCache, TheNameFollowsFromWhatTheProbeSees) {
    EXPECT_EQ(host_cache_file(folder(), measured_), host_cache_file(folder(), probed_));
    Machine other = probed_;
    other.memory.back().capacity_bytes /= 2;
    EXPECT_EQ(host_cache_file(folder(), other), host_cache_file(folder(), probed_));
    other.cores += 1;
    EXPECT_NE(host_cache_file(folder(), other), host_cache_file(folder(), probed_));
}

// The key follows from the printed form, which older versions had another of.
TEST_F(HostCache, FindsWhatAnotherVersionKept) {
    keep_host(folder(), probed_, measured_);
    const fs::path file = host_cache_file(folder(), probed_);
    fs::rename(file, file.parent_path() / "0123456789abcdef.toml");
    EXPECT_EQ(cached_host(folder(), probed_), measured_);
    Machine other = probed_;
    other.cores += 1;
    EXPECT_EQ(cached_host(folder(), other), std::nullopt);
}

TEST_F(HostCache, ADamagedOrForeignFileIsAsGoodAsNone) {
    keep_host(folder(), probed_, measured_);
    const fs::path file = host_cache_file(folder(), probed_);
    std::ofstream(file) << "cores = many\n";
    EXPECT_EQ(cached_host(folder(), probed_), std::nullopt);
    Machine other = measured_;
    other.cores += 1;
    std::ofstream(file) << print_machine(other);
    EXPECT_EQ(cached_host(folder(), probed_), std::nullopt);
}

}  // namespace
}  // namespace tessera::machine
