#include "machine/host_cache.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "machine/machine_text.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigits = 16;

/// The part of a machine that the probe finds and measuring does not change.
Machine identity(Machine machine) {
    machine.measured_with.clear();
    machine.barriers.clear();
    machine.rank_links.clear();
    machine.micro_kernels.clear();
    for (MemoryLevel& level : machine.memory) {
        level.latency_seconds.reset();
        level.read_bandwidth.clear();
    }
    for (ComputeUnit& unit : machine.units) unit.peaks.clear();
    machine.memory.back().capacity_bytes = 1;
    return machine;
}

/// The description in a file, if it is one of this host.
std::optional<Machine> kept_host(const fs::path& file, const Machine& probed) {
    std::error_code missing;
    if (!fs::is_regular_file(file, missing)) return std::nullopt;
    try {
        Machine measured = read_machine(file);
        if (identity(measured) == identity(probed)) return measured;
    } catch (const Error&) {
        // A damaged one counts as none, and the next measurement replaces it.
    }
    return std::nullopt;
}

}  // namespace

fs::path host_cache_file(const fs::path& folder, const Machine& probed) {
    return folder / "machines" / (content_hash(identity(probed)).substr(0, kDigits) + ".toml");
}

std::optional<Machine> cached_host(const fs::path& folder, const Machine& probed) {
    const fs::path file = host_cache_file(folder, probed);
    if (std::optional<Machine> kept = kept_host(file, probed)) return kept;
    // A file of another version has a key of its own, and the next measurement writes this one's.
    std::error_code missing;
    std::vector<fs::path> others;
    for (const auto& entry : fs::directory_iterator(file.parent_path(), missing))
        if (entry.path().extension() == ".toml" && entry.path() != file) others.push_back(entry.path());
    std::sort(others.begin(), others.end());
    for (const fs::path& other : others)
        if (std::optional<Machine> kept = kept_host(other, probed)) return kept;
    return std::nullopt;
}

void keep_host(const fs::path& folder, const Machine& probed, const Machine& measured) {
    const fs::path file = host_cache_file(folder, probed);
    create_folders(file.parent_path());
    write_file(file, print_machine(measured));
}

}  // namespace tessera::machine
