#include "machine/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;

// Version 1 spells "unlimited" as the largest multiple of a page.
constexpr int64_t kUnlimitedBytes = int64_t{1} << 62;

std::vector<std::string> words_of(const fs::path& path) {
    std::ifstream file(path);
    std::vector<std::string> words;
    for (std::string word; words.size() < 8 && file >> word;) words.push_back(word);
    return words;
}

/// Empty for "max", for -1 and for anything else that is no positive number.
std::optional<int64_t> positive(const std::string& text) {
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value <= 0)
        return std::nullopt;
    return value;
}

std::optional<int64_t> single_number(const fs::path& path) {
    const std::vector<std::string> words = words_of(path);
    return words.empty() ? std::nullopt : positive(words.front());
}

template <class T>
void lower(std::optional<T>& limit, std::optional<T> found) {
    if (found) limit = limit ? std::min(*limit, *found) : *found;
}

void read_version_2(const fs::path& group, CgroupLimits& limits) {
    if (const std::vector<std::string> words = words_of(group / "cpu.max"); words.size() == 2) {
        const auto quota = positive(words[0]);
        const auto period = positive(words[1]);
        if (quota && period) lower(limits.processors, std::optional(double(*quota) / double(*period)));
    }
    lower(limits.memory_bytes, single_number(group / "memory.max"));
}

void read_version_1_cpu(const fs::path& group, CgroupLimits& limits) {
    const auto quota = single_number(group / "cpu.cfs_quota_us");
    const auto period = single_number(group / "cpu.cfs_period_us");
    if (quota && period) lower(limits.processors, std::optional(double(*quota) / double(*period)));
}

void read_version_1_memory(const fs::path& group, CgroupLimits& limits) {
    const auto bytes = single_number(group / "memory.limit_in_bytes");
    if (bytes && *bytes < kUnlimitedBytes) lower(limits.memory_bytes, bytes);
}

/// `mount`/`group` and every folder above it up to `mount`. In a container the path is often one of the host,
/// which does not exist here; the mount itself then is the container's group.
void walk_up(const fs::path& mount, const fs::path& group,
             const std::function<void(const fs::path&)>& visit) {
    for (fs::path part = group.relative_path(); !part.empty(); part = part.parent_path()) visit(mount / part);
    visit(mount);
}

bool names(const std::string& controllers, std::string_view wanted) {
    const std::string list = "," + controllers + ",";
    return list.find("," + std::string(wanted) + ",") != std::string::npos;
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
    CgroupLimits limits;
    const fs::path base = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    // Lines "ID:CONTROLLERS:PATH"; version 2 is the one without controllers.
    for (std::string line; std::getline(groups, line);) {
        const size_t first = line.find(':');
        const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const fs::path group = line.substr(second + 1);
        if (controllers.empty())
            for (const char* mount : {".", "unified"})
                walk_up(base / mount, group, [&](const fs::path& folder) { read_version_2(folder, limits); });
        if (names(controllers, "cpu"))
            for (const std::string& mount : {std::string("cpu"), controllers})
                walk_up(base / mount, group,
                        [&](const fs::path& folder) { read_version_1_cpu(folder, limits); });
        if (names(controllers, "memory"))
            walk_up(base / "memory", group,
                    [&](const fs::path& folder) { read_version_1_memory(folder, limits); });
    }
    return limits;
}

}  // namespace tessera::machine
