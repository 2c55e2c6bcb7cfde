#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "machine/description_text.h"
#include "machine/machine_text.h"

namespace tessera::machine {
namespace {

// The parser admits neither quotes nor backslashes nor control characters in any string, so nothing needs
// escaping.
std::string toml_string(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

/// The shortest text that reads back exactly, plain or with an exponent: "400", "1.6e10". TOML takes one
/// without point and exponent for an integer, which the reader admits for a rate.
std::string number(double value) {
    std::array<char, 32> digits = {};
    const auto written =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific);
    std::string text(digits.data(), written.ptr);
    const size_t sign = text.find('e') + 1;
    const size_t exponent = std::min(text.find_first_not_of("+-0", sign), text.size() - 1);
    text = text.substr(0, sign) + (text[sign] == '-' ? "-" : "") + text.substr(exponent);
    const std::string plain = fmt::format("{}", value);
    return plain.size() <= text.size() && plain.find('e') == std::string::npos ? plain : text;
}

std::string print_bandwidths(const std::vector<ReadBandwidth>& entries) {
    if (entries.empty()) return {};
    std::string text = "read_bandwidth = [\n";
    for (const ReadBandwidth& entry : entries)
        text += fmt::format("    {{ threads = {}, bytes_per_second = {}, prefetch_bytes = {} }},\n",
                            entry.threads, number(entry.bytes_per_second), entry.prefetch_bytes);
    return text + "]\n";
}

std::string print_peaks(const std::vector<UnitPeak>& peaks) {
    if (peaks.empty()) return {};
    std::string text = "peaks = [\n";
    for (const UnitPeak& peak : peaks)
        text += fmt::format("    {{ level = {}, operations_per_second = {} }},\n", toml_string(peak.level),
                            number(peak.operations_per_second));
    return text + "]\n";
}

std::string print_barriers(const std::vector<BarrierCost>& barriers) {
    if (barriers.empty()) return {};
    std::string text = "barriers = [\n";
    for (const BarrierCost& barrier : barriers)
        text +=
            fmt::format("    {{ threads = {}, seconds = {} }},\n", barrier.threads, number(barrier.seconds));
    return text + "]\n";
}

std::string print_rank_links(const std::vector<RankLink>& links) {
    if (links.empty()) return {};
    std::string text = "rank_links = [\n";
    for (const RankLink& link : links)
        text += fmt::format(
            "    {{ ranks = {}, transport = {}, latency_seconds = {}, bytes_per_second = {} }},\n",
            link.ranks, toml_string(link.transport), number(link.latency_seconds),
            number(link.bytes_per_second));
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
    const auto integer = [](int64_t value) { return fmt::to_string(value); };
    return fmt::format("\n[[micro_kernel]]\nname = {}\n", toml_string(time.name)) +
           print_named("types", time.types, toml_string) +
           print_named("parameters", time.parameters, integer) + print_named("sizes", time.sizes, integer) +
           (time.work.empty() ? "" : print_named("work", time.work, integer)) +
           fmt::format("level = {}\nseconds = {}\n", toml_string(time.level), number(time.seconds));
}

std::string print_rate(std::string_view quantity, const Rate& rate) {
    return fmt::format("{}_per_{} = {}", quantity, rate.by == Clocked::kSeconds ? "second" : "cycle",
                       number(rate.value));
}

std::string print_latency(const Latency& latency) {
    return fmt::format("latency_{} = {}", latency.in == Clocked::kSeconds ? "seconds" : "cycles",
                       number(latency.value));
}

std::string print_links(const Links& links) {
    std::string text = fmt::format("links = {{ topology = {}", toml_string(name(links.topology)));
    if (!links.shape.empty()) text += fmt::format(", shape = [{}]", fmt::join(links.shape, ", "));
    text += ", " + print_rate("bytes", links.bytes);
    if (links.latency) text += ", " + print_latency(*links.latency);
    return text + " }\n";
}

std::string print_modules(const Modules& modules) {
    std::string text = fmt::format("\n[[level.module]]\ncount = {}\n", modules.count);
    if (!modules.edge.empty()) text += fmt::format("edge = {}\n", toml_string(modules.edge));
    if (!modules.at.empty()) text += fmt::format("at = [{}]\n", fmt::join(modules.at, ", "));
    text += print_rate("bytes", modules.bytes) + "\n";
    if (modules.port_bytes) text += print_rate("port_bytes", *modules.port_bytes) + "\n";
    return text + print_latency(modules.latency) + "\n";
}

std::string print_level(const Level& level) {
    std::string text =
        fmt::format("\n[[level]]\nname = {}\ncount = {}\n", toml_string(level.name), level.count);
    if (level.capacity_bytes) text += fmt::format("capacity_bytes = {}\n", *level.capacity_bytes);
    if (level.reserved_bytes != 0) text += fmt::format("reserved_bytes = {}\n", level.reserved_bytes);
    if (level.bytes) text += print_rate("bytes", *level.bytes) + "\n";
    if (level.latency_seconds) text += print_latency(Latency{*level.latency_seconds}) + "\n";
    text += print_bandwidths(level.read_bandwidth);
    if (level.shared_by_cores) text += fmt::format("shared_by_cores = {}\n", *level.shared_by_cores);
    if (level.links) text += print_links(*level.links);
    for (const Modules& modules : level.modules) text += print_modules(modules);
    return text;
}

std::string print_operands(const ComputeUnit& unit) {
    std::string text =
        fmt::format("registers = {}\nstrided_rows = {}\noperands = [\n", unit.registers, unit.strided_rows);
    for (const OperandLanes& operand : unit.operands)
        text += fmt::format("    {{ name = {}, type = {}, lanes = {} }},\n", toml_string(operand.name),
                            toml_string(operand.type), toml_string(print_lanes(operand.lanes)));
    return text + "]\n" + print_peaks(unit.peaks);
}

std::string print_unit(const Unit& unit) {
    std::string text = fmt::format("\n[[unit]]\nname = {}\nkind = {}\n", toml_string(unit.name),
                                   toml_string(name(unit.kind)));
    if (unit.operations) text += print_rate("operations", *unit.operations) + "\n";
    if (unit.block[0] != 0) text += fmt::format("block = [{}]\n", fmt::join(unit.block, ", "));
    if (unit.special_operations != 0)
        text += fmt::format("special_operations = {}\n", number(unit.special_operations));
    return unit.operands.empty() ? text : text + print_operands(unit);
}

std::string print_energy(const Energy& energy) {
    return fmt::format(
        "\n[energy]\nmatrix_flop = {}\nvector_flop = {}\nsram_byte = {}\nlink_byte = {}\nhbm_byte = {}\n"
        "chip_byte = {}\n",
        number(energy.matrix_flop), number(energy.vector_flop), number(energy.sram_byte),
        number(energy.link_byte), number(energy.hbm_byte), number(energy.chip_byte));
}

std::string print_compiler(const CompilerSettings& compiler) {
    std::string text = "\n[compiler]\n";
    if (!compiler.command.empty()) text += fmt::format("command = {}\n", toml_string(compiler.command));
    text += "flags = [";
    for (size_t i = 0; i < compiler.flags.size(); ++i)
        text += (i == 0 ? "" : ", ") + toml_string(compiler.flags[i]);
    return text + "]\n";
}

std::string print_cpu_head(const Cpu& cpu) {
    std::string text =
        fmt::format("isa = {}\ncache_line_bytes = {}\n", toml_string(name(cpu.isa)), cpu.cache_line_bytes);
    if (cpu.usable_cores) text += fmt::format("usable_cores = {}\n", *cpu.usable_cores);
    if (!cpu.measured_with.empty())
        text += fmt::format("measured_with = {}\n", toml_string(cpu.measured_with));
    return text + print_barriers(cpu.barriers) + print_rank_links(cpu.rank_links) +
           print_compiler(cpu.compiler);
}

}  // namespace

std::string print_description(const Description& description) {
    std::string text = fmt::format("name = {}\n", toml_string(description.name));
    if (description.cpu) text += print_cpu_head(*description.cpu);
    if (description.clock_hz) text += fmt::format("clock_hz = {}\n", number(*description.clock_hz));
    if (description.tile_overhead_cycles != 0)
        text += fmt::format("tile_overhead_cycles = {}\n", number(description.tile_overhead_cycles));
    for (const Level& level : description.levels) text += print_level(level);
    for (const Unit& unit : description.units) text += print_unit(unit);
    if (description.energy) text += print_energy(*description.energy);
    for (const TileCosts& costs : description.tile_costs) text += print_tile_costs(costs);
    if (description.cpu)
        for (const MicroKernelTime& time : description.cpu->micro_kernels) text += print_micro_kernel(time);
    return text;
}

std::string print_machine(const Machine& machine) {
    return print_description(describe(machine));
}

}  // namespace tessera::machine
