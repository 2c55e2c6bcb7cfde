#include "machine/unit_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/machine_text.h"
#include "machine/measured_fields.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMaxRegisters = 1 << 16;
constexpr int64_t kMostBlock = 1 << 16;
constexpr double kMostPicojoules = 1e9;

template <class Enum, size_t kCount>
Enum choice(TomlFields& fields, std::string_view key, const std::array<Enum, kCount>& values) {
    const std::string text = fields.text(key);
    std::string known;
    for (const Enum value : values) {
        if (name(value) == text) return value;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", name(value));
    }
    fields.refuse(key, fmt::format("is {}, expected one of {}", text, known));
}

// The flags become part of a command line: only flags that select features of the CPU are allowed, and none
// that query it.
void check_flag(const TomlFields& fields, const std::string& flag) {
    const bool is_feature = flag.size() > 2 && flag.starts_with("-m") && flag.find(' ') == std::string::npos;
    if (!is_feature)
        fields.refuse("flags", fmt::format("holds {}, expected -m and a feature", flag),
                      "for example -mavx2");
    if (flag.ends_with("=native"))
        fields.refuse("flags", fmt::format("holds {}, which means another machine everywhere", flag),
                      "name the features: `tessera machine` lists those of the host");
}

CompilerSettings read_compiler(TomlFields fields) {
    CompilerSettings compiler;
    if (fields.has("command")) compiler.command = fields.text("command");
    if (compiler.command.find('/') != std::string::npos && compiler.command.front() != '/')
        fields.refuse("command", "is a relative path, expected a name or an absolute path");
    compiler.flags = fields.texts("flags");
    for (const std::string& flag : compiler.flags) check_flag(fields, flag);
    fields.finish();
    return compiler;
}

OperandLanes read_operand(TomlFields fields) {
    OperandLanes operand{.name = fields.text("name"), .type = fields.text("type")};
    const std::string lanes = fields.text_or_empty("lanes");
    const auto parsed = parse_lanes(lanes);
    if (!parsed)
        fields.refuse("lanes", fmt::format("is {}, expected letters with factors", lanes),
                      "for example k16,n16,k2");
    operand.lanes = *parsed;
    fields.finish();
    return operand;
}

// The product of the factors of one axis, which all operands that have the axis must agree on; 0 without it.
int64_t extent(const OperandLanes& operand, char axis) {
    int64_t product = 0;
    for (const LaneAxis& lane : operand.lanes)
        if (lane.axis == axis)
            product = (product == 0 ? 1 : std::min<int64_t>(product, 1 << 20)) * lane.factor;
    return product;
}

// <i16>, or <i16,k2> of a dot product: neighbours are multiplied and added before they are accumulated.
bool is_vector(const std::vector<LaneAxis>& lanes) {
    return lanes.size() == 1 || (lanes.size() == 2 && lanes[0].axis != lanes[1].axis);
}

void check_operands(const TomlFields& fields, const ComputeUnit& unit) {
    if (unit.operands.size() != 3)
        fields.refuse("operands",
                      fmt::format("holds {}, expected two factors and a result", unit.operands.size()));
    for (const OperandLanes& operand : unit.operands) {
        const bool right_rank = unit.kind == UnitKind::kScalar   ? operand.lanes.empty()
                                : unit.kind == UnitKind::kVector ? is_vector(operand.lanes)
                                                                 : !operand.lanes.empty();
        if (!right_rank)
            fields.refuse("operands", fmt::format("gives {} the lanes <{}>, which no {} unit has",
                                                  operand.name, print_lanes(operand.lanes), name(unit.kind)));
        for (const LaneAxis& lane : operand.lanes)
            for (const OperandLanes& other : unit.operands)
                if (const int64_t found = extent(other, lane.axis);
                    found != 0 && found != extent(operand, lane.axis))
                    fields.refuse("operands",
                                  fmt::format("give axis {} {} lanes in {} and {} in {}", lane.axis,
                                              extent(operand, lane.axis), operand.name, found, other.name));
    }
}

UnitKind read_kind(TomlFields& fields) {
    return choice(fields, "kind", std::array{UnitKind::kScalar, UnitKind::kVector, UnitKind::kMatrix});
}

ComputeUnit read_cpu_unit(TomlFields& fields, const std::vector<std::string>& memory) {
    ComputeUnit unit;
    unit.name = fields.text("name");
    unit.kind = read_kind(fields);
    unit.registers = fields.integer("registers", 1, kMaxRegisters);
    unit.strided_rows = fields.boolean("strided_rows");
    for (const TomlFields& operand : fields.tables("operands"))
        unit.operands.push_back(read_operand(operand));
    unit.peaks = read_peaks(fields, memory);
    check_operands(fields, unit);
    return unit;
}

}  // namespace

std::array<int64_t, 3> read_block(TomlFields& fields) {
    std::array<int64_t, 3> block = {};
    const std::vector<int64_t> numbers = fields.integers("block", 1, kMostBlock);
    if (numbers.size() != block.size())
        fields.refuse(
            "block",
            fmt::format("has {} numbers, expected three: rows, columns and summed elements", numbers.size()));
    std::copy(numbers.begin(), numbers.end(), block.begin());
    return block;
}

double read_special_operations(TomlFields& fields, std::string_view key) {
    return fields.real(key, 1, 1e9);
}

Unit read_unit(TomlFields fields, const std::vector<std::string>& memory, bool is_of_cpu,
               const Clock& clock) {
    Unit unit;
    if (is_of_cpu || fields.has("operands")) {
        static_cast<ComputeUnit&>(unit) = read_cpu_unit(fields, memory);
    } else {
        unit.name = fields.text("name");
        unit.kind = read_kind(fields);
        unit.operations = required_rate(fields, "operations", clock);
        if (fields.has("block")) unit.block = read_block(fields);
        if (fields.has("special_operations"))
            unit.special_operations = read_special_operations(fields, "special_operations");
    }
    fields.finish();
    return unit;
}

Cpu read_cpu(TomlFields& fields) {
    Cpu cpu;
    cpu.isa = choice(fields, "isa", std::array{Isa::kX86_64, Isa::kAArch64});
    cpu.cache_line_bytes = fields.integer("cache_line_bytes", 1, 4096);
    cpu.compiler = read_compiler(fields.table("compiler"));
    if (fields.has("measured_with")) cpu.measured_with = fields.text("measured_with");
    return cpu;
}

Energy read_energy(TomlFields fields) {
    const auto picojoules = [&](std::string_view key) { return fields.real(key, 0, kMostPicojoules); };
    const Energy energy{.matrix_flop = picojoules("matrix_flop"),
                        .vector_flop = picojoules("vector_flop"),
                        .sram_byte = picojoules("sram_byte"),
                        .link_byte = picojoules("link_byte"),
                        .hbm_byte = picojoules("hbm_byte"),
                        .chip_byte = picojoules("chip_byte")};
    fields.finish();
    return energy;
}

void check_f32_vector(const TomlFields& fields, const Machine& machine) {
    if (find_unit(machine, UnitKind::kVector, "f32") == nullptr)
        fields.refuse("unit", "has no vector unit with f32 operands", "the portable one has 4 lanes");
}

}  // namespace tessera::machine
