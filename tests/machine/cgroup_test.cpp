#include "machine/cgroup.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tessera::machine {
namespace {

class Cgroup : public ::testing::Test {
protected:
    void put(const std::string& name, const std::string& content) const {
        const std::filesystem::path path = root_.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << content;
    }
    CgroupLimits limits() const { return read_cgroup_limits(root_.path()); }

private:
    TemporaryFolder root_;
};

TEST_F(Cgroup, NothingThereLimitsNothing) {
    EXPECT_EQ(limits(), CgroupLimits());
}

TEST_F(Cgroup, Version2TakesTheSmallestOnTheWayUp) {
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/cpu.max", "800000 100000\n");
    put("sys/fs/cgroup/a/b/memory.max", "1000000\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    EXPECT_EQ(limits(), (CgroupLimits{.processors = 1.5, .memory_bytes = 1000000}));
}

TEST_F(Cgroup, Version1) {
    put("proc/self/cgroup", "4:memory:/a\n3:cpu,cpuacct:/a\n1:name=systemd:/\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000000\n");
    EXPECT_EQ(limits(), (CgroupLimits{.processors = 4, .memory_bytes = 2000000}));
}

TEST_F(Cgroup, Version1SpellsUnlimitedInItsOwnWay) {
    put("proc/self/cgroup", "4:memory:/\n3:cpu:/\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(limits(), CgroupLimits());
}

// Inside a container the path is the host's, and the limits lie at the mount.
TEST_F(Cgroup, PathThatIsNotVisibleFallsBackToTheMount) {
    put("proc/self/cgroup", "0::/docker/0123\n");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_EQ(limits().processors, 2);
}

TEST_F(Cgroup, NonsenseIsIgnored) {
    put("proc/self/cgroup", "garbage\n0:\n0::/\n");
    put("sys/fs/cgroup/cpu.max", "many 0\n");
    put("sys/fs/cgroup/memory.max", "");
    EXPECT_EQ(limits(), CgroupLimits());
}

}  // namespace
}  // namespace tessera::machine
