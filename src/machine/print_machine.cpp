#include <fmt/format.h>

#include "machine/machine_text.h"

namespace tessera::machine {
namespace {

// The parser admits neither quotes nor backslashes nor control characters in any string, so nothing needs
// escaping.
std::string toml_string(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

// Numbers are printed in the shortest form that reads back exactly. TOML takes one without point and exponent
// for an integer, which the reader admits for a rate.

std::string print_latency(const std::optional<double>& seconds) {
    return seconds ? fmt::format("latency_seconds = {}\n", *seconds) : "";
}

std::string print_bandwidths(const std::vector<ReadBandwidth>& entries) {
    if (entries.empty()) return {};
    std::string text = "read_bandwidth = [\n";
    for (const ReadBandwidth& entry : entries)
        text += fmt::format("    {{ threads = {}, bytes_per_second = {}, prefetch_bytes = {} }},\n",
                            entry.threads, entry.bytes_per_second, entry.prefetch_bytes);
    return text + "]\n";
}

std::string print_peaks(const std::vector<UnitPeak>& peaks) {
    if (peaks.empty()) return {};
    std::string text = "peaks = [\n";
    for (const UnitPeak& peak : peaks)
        text += fmt::format("    {{ level = {}, operations_per_second = {} }},\n", toml_string(peak.level),
                            peak.operations_per_second);
    return text + "]\n";
}

std::string print_barriers(const std::vector<BarrierCost>& barriers) {
    if (barriers.empty()) return {};
    std::string text = "barriers = [\n";
    for (const BarrierCost& barrier : barriers)
        text += fmt::format("    {{ threads = {}, seconds = {} }},\n", barrier.threads, barrier.seconds);
    return text + "]\n";
}

std::string print_rank_links(const std::vector<RankLink>& links) {
    if (links.empty()) return {};
    std::string text = "rank_links = [\n";
    for (const RankLink& link : links)
        text += fmt::format(
            "    {{ ranks = {}, transport = {}, latency_seconds = {}, bytes_per_second = {} }},\n",
            link.ranks, toml_string(link.transport), link.latency_seconds, link.bytes_per_second);
    return text + "]\n";
}

/// The reader admits only names of letters, digits and underscores, which TOML takes without quotes.
template <class Value, class Print>
std::string print_named(std::string_view key, const std::map<std::string, Value>& entries, Print print) {
    std::string text;
    for (const auto& [name, value] : entries)
        text += fmt::format("{} {} = {}", text.empty() ? "" : ",", name, print(value));
    return fmt::format("{} = {{{} }}\n", key, text);
}

std::string print_micro_kernel(const MicroKernelTime& time) {
    const auto number = [](int64_t value) { return fmt::to_string(value); };
    return fmt::format("\n[[micro_kernel]]\nname = {}\n", toml_string(time.name)) +
           print_named("types", time.types, toml_string) +
           print_named("parameters", time.parameters, number) + print_named("sizes", time.sizes, number) +
           (time.work.empty() ? "" : print_named("work", time.work, number)) +
           fmt::format("level = {}\nseconds = {}\n", toml_string(time.level), time.seconds);
}

std::string print_level(const MemoryLevel& level) {
    return fmt::format("\n[[memory]]\nname = {}\ncapacity_bytes = {}\nshared_by_cores = {}\n",
                       toml_string(level.name), level.capacity_bytes, level.shared_by_cores) +
           print_latency(level.latency_seconds) + print_bandwidths(level.read_bandwidth);
}

std::string print_unit(const ComputeUnit& unit) {
    std::string text =
        fmt::format("\n[[unit]]\nname = {}\nkind = {}\nregisters = {}\nstrided_rows = {}\noperands = [\n",
                    toml_string(unit.name), toml_string(name(unit.kind)), unit.registers, unit.strided_rows);
    for (const OperandLanes& operand : unit.operands)
        text += fmt::format("    {{ name = {}, type = {}, lanes = {} }},\n", toml_string(operand.name),
                            toml_string(operand.type), toml_string(print_lanes(operand.lanes)));
    return text + "]\n" + print_peaks(unit.peaks);
}

std::string print_compiler(const CompilerSettings& compiler) {
    std::string text = "\n[compiler]\n";
    if (!compiler.command.empty()) text += fmt::format("command = {}\n", toml_string(compiler.command));
    text += "flags = [";
    for (size_t i = 0; i < compiler.flags.size(); ++i)
        text += (i == 0 ? "" : ", ") + toml_string(compiler.flags[i]);
    return text + "]\n";
}

}  // namespace

std::string print_machine(const Machine& machine) {
    std::string text =
        fmt::format("name = {}\nisa = {}\ncores = {}\ncache_line_bytes = {}\n", toml_string(machine.name),
                    toml_string(name(machine.isa)), machine.cores, machine.cache_line_bytes);
    if (!machine.measured_with.empty())
        text += fmt::format("measured_with = {}\n", toml_string(machine.measured_with));
    text += print_barriers(machine.barriers) + print_rank_links(machine.rank_links) +
            print_compiler(machine.compiler);
    for (const MemoryLevel& level : machine.memory) text += print_level(level);
    for (const ComputeUnit& unit : machine.units) text += print_unit(unit);
    for (const MicroKernelTime& time : machine.micro_kernels) text += print_micro_kernel(time);
    return text;
}

}  // namespace tessera::machine
