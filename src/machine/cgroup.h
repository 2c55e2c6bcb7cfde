#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tessera::machine {

/// The limits of this process's control groups, each absent where there is none.
struct CgroupLimits {
    std::optional<double> processors;  ///< CPU time per time: 1.5 is one and a half processors
    std::optional<int64_t> memory_bytes;
    bool operator==(const CgroupLimits&) const = default;
};

/// Reads ROOT/proc/self/cgroup and the groups below ROOT/sys/fs/cgroup, versions 1 and 2. A limit of a group
/// holds for everything below it, so the smallest on the way up counts. A file that cannot be read limits
/// nothing. Source: Linux, Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
/// @param root  "/" except in tests
CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

}  // namespace tessera::machine
