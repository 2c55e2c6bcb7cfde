#include "machine/measured_fields.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMaxThreads = 1 << 20;
constexpr int64_t kMaxPrefetch = 1 << 20;
constexpr int64_t kMaxSize = int64_t{1} << 40;
constexpr int64_t kMaxParameter = int64_t{1} << 16;  // blocks are some registers or tiles
constexpr int64_t kMaxIterations = int64_t{1} << 60;
constexpr std::string_view kRegisters = "registers";

double rate(TomlFields& fields, std::string_view key) {
    const auto value = fields.positive(key);
    if (!value) fields.refuse(key, "is missing");
    return *value;
}

template <class Entry>
void check_ascending(const TomlFields& fields, std::string_view key, const std::vector<Entry>& entries) {
    for (size_t i = 1; i < entries.size(); ++i)
        if (entries[i].threads <= entries[i - 1].threads)
            fields.refuse(key, fmt::format("lists {} threads after {}, expected ascending numbers",
                                           entries[i].threads, entries[i - 1].threads));
}

bool is_level(const std::vector<std::string>& memory, const std::string& name) {
    return std::find(memory.begin(), memory.end(), name) != memory.end();
}

void check_iterations(const TomlFields& fields, const std::map<std::string, int64_t>& sizes) {
    int64_t product = 1;
    for (const auto& [name, size] : sizes) {
        if (size > kMaxIterations / product)
            fields.refuse("sizes", fmt::format("multiply to more than {}", kMaxIterations));
        product *= size;
    }
}

MicroKernelTime read_micro_kernel(TomlFields fields, const std::vector<std::string>& memory) {
    MicroKernelTime time{.name = fields.text("name"),
                         .types = fields.named_texts("types"),
                         .parameters = fields.named_integers("parameters", 1, kMaxParameter),
                         .sizes = fields.named_integers("sizes", 1, kMaxSize),
                         .level = fields.text("level"),
                         .seconds = rate(fields, "seconds")};
    check_iterations(fields, time.sizes);
    if (fields.has("work")) time.work = fields.named_integers("work", 0, kMaxIterations);
    if (!is_level(memory, time.level))
        fields.refuse("level", fmt::format("is {}, which is no memory of this machine", time.level));
    fields.finish();
    return time;
}

}  // namespace

std::vector<ReadBandwidth> read_bandwidths(TomlFields& level) {
    std::vector<ReadBandwidth> entries;
    if (!level.has("read_bandwidth")) return entries;
    for (TomlFields& fields : level.tables("read_bandwidth")) {
        entries.push_back({.threads = fields.integer("threads", 1, kMaxThreads),
                           .bytes_per_second = rate(fields, "bytes_per_second"),
                           .prefetch_bytes = fields.integer("prefetch_bytes", 0, kMaxPrefetch)});
        fields.finish();
    }
    check_ascending(level, "read_bandwidth", entries);
    return entries;
}

std::vector<UnitPeak> read_peaks(TomlFields& unit, const std::vector<std::string>& memory) {
    std::vector<UnitPeak> peaks;
    if (!unit.has("peaks")) return peaks;
    std::set<std::string> seen;
    for (TomlFields& fields : unit.tables("peaks")) {
        UnitPeak peak{.level = fields.text("level"),
                      .operations_per_second = rate(fields, "operations_per_second")};
        if (peak.level != kRegisters && !is_level(memory, peak.level))
            fields.refuse("level",
                          fmt::format("is {}, expected registers or a memory of this machine", peak.level));
        if (!seen.insert(peak.level).second)
            fields.refuse("level", fmt::format("is {} for the second time", peak.level));
        fields.finish();
        peaks.push_back(std::move(peak));
    }
    return peaks;
}

std::vector<BarrierCost> read_barriers(TomlFields& machine) {
    std::vector<BarrierCost> entries;
    if (!machine.has("barriers")) return entries;
    for (TomlFields& fields : machine.tables("barriers")) {
        entries.push_back(
            {.threads = fields.integer("threads", 2, kMaxThreads), .seconds = rate(fields, "seconds")});
        fields.finish();
    }
    check_ascending(machine, "barriers", entries);
    return entries;
}

std::vector<RankLink> read_rank_links(TomlFields& machine) {
    std::vector<RankLink> entries;
    if (!machine.has("rank_links")) return entries;
    for (TomlFields& fields : machine.tables("rank_links")) {
        RankLink link{.ranks = fields.integer("ranks", 2, kMaxThreads),
                      .transport = fields.text("transport"),
                      .latency_seconds = rate(fields, "latency_seconds"),
                      .bytes_per_second = rate(fields, "bytes_per_second")};
        if (link.transport != "memory" && link.transport != "mpi")
            fields.refuse("transport", fmt::format("is {}, expected memory or mpi", link.transport));
        if (!entries.empty() &&
            std::tie(entries.back().transport, entries.back().ranks) >= std::tie(link.transport, link.ranks))
            fields.refuse("ranks", "is not above that of the entry before",
                          "list them by transport, then by ranks");
        fields.finish();
        entries.push_back(std::move(link));
    }
    return entries;
}

std::vector<MicroKernelTime> read_micro_kernels(TomlFields& machine, const std::vector<std::string>& memory) {
    std::vector<MicroKernelTime> times;
    if (!machine.has("micro_kernel")) return times;
    using Instance =
        std::tuple<std::string, std::map<std::string, std::string>, std::map<std::string, int64_t>,
                   std::map<std::string, int64_t>, std::map<std::string, int64_t>, std::string>;
    std::set<Instance> seen;
    for (const TomlFields& fields : machine.tables("micro_kernel")) {
        MicroKernelTime time = read_micro_kernel(fields, memory);
        if (!seen.insert({time.name, time.types, time.parameters, time.sizes, time.work, time.level}).second)
            fields.refuse("name", fmt::format("is {}, timed before with the same types, parameters, sizes, "
                                              "work and level",
                                              time.name));
        times.push_back(std::move(time));
    }
    return times;
}

}  // namespace tessera::machine
