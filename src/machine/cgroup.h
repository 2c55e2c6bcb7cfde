#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tessera::machine {

/// What the control groups of this process allow it, each absent where nothing limits it.
struct CgroupLimits {
    std::optional<double> processors;  ///< CPU time per time: 1.5 is one and a half processors
    std::optional<int64_t> memory_bytes;
    bool operator==(const CgroupLimits&) const = default;
};

/// Reads ROOT/proc/self/cgroup and the groups below ROOT/sys/fs/cgroup, versions 1 and 2. A limit of a group
/// holds for everything below it, so the smallest on the way up counts. What cannot be read limits nothing.
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
/// @param root  "/" except in tests
CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

}  // namespace tessera::machine
