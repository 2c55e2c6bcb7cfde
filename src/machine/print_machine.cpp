#include <fmt/format.h>

#include "machine/machine_text.h"

namespace tessera {
namespace {

// The parser admits neither quotes nor backslashes nor control characters in any string, so nothing needs
// escaping.
std::string toml_string(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

std::string print_rate(std::string_view key, const std::optional<double>& value) {
    if (!value) return {};
    // The shortest form that reads back exactly. TOML takes a number without point and exponent for an
    // integer, which the reader admits for a rate.
    return fmt::format("{} = {}\n", key, *value);
}

std::string print_level(const MemoryLevel& level) {
    return fmt::format("\n[[memory]]\nname = {}\ncapacity_bytes = {}\nshared_by_cores = {}\n",
                       toml_string(level.name), level.capacity_bytes, level.shared_by_cores) +
           print_rate("bandwidth_bytes_per_second", level.bandwidth_bytes_per_second) +
           print_rate("latency_seconds", level.latency_seconds);
}

std::string print_unit(const ComputeUnit& unit) {
    std::string text =
        fmt::format("\n[[unit]]\nname = {}\nkind = {}\nregisters = {}\nstrided_rows = {}\noperands = [\n",
                    toml_string(unit.name), toml_string(name(unit.kind)), unit.registers, unit.strided_rows);
    for (const OperandLanes& operand : unit.operands)
        text += fmt::format("    {{ name = {}, type = {}, lanes = {} }},\n", toml_string(operand.name),
                            toml_string(operand.type), toml_string(print_lanes(operand.lanes)));
    return text + "]\n" + print_rate("flops_per_second", unit.flops_per_second);
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
    text += print_compiler(machine.compiler);
    for (const MemoryLevel& level : machine.memory) text += print_level(level);
    for (const ComputeUnit& unit : machine.units) text += print_unit(unit);
    return text;
}

}  // namespace tessera
