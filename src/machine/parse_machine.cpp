#include <algorithm>
#include <array>

#include "machine/machine_text.h"
#include "machine/measured_fields.h"
#include "machine/toml_document.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMaxCores = 1 << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
constexpr int64_t kMaxRegisters = 1 << 16;

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

MemoryLevel read_level(TomlFields fields) {
    MemoryLevel level;
    level.name = fields.text("name");
    level.capacity_bytes = fields.integer("capacity_bytes", 1, kMaxBytes);
    level.shared_by_cores = fields.integer("shared_by_cores", 1, kMaxCores);
    level.latency_seconds = fields.positive("latency_seconds");
    level.read_bandwidth = read_bandwidths(fields);
    fields.finish();
    return level;
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

ComputeUnit read_unit(TomlFields fields, const std::vector<MemoryLevel>& memory) {
    ComputeUnit unit;
    unit.name = fields.text("name");
    unit.kind = choice(fields, "kind", std::array{UnitKind::kScalar, UnitKind::kVector, UnitKind::kMatrix});
    unit.registers = fields.integer("registers", 1, kMaxRegisters);
    unit.strided_rows = fields.boolean("strided_rows");
    for (const TomlFields& operand : fields.tables("operands"))
        unit.operands.push_back(read_operand(operand));
    unit.peaks = read_peaks(fields, memory);
    check_operands(fields, unit);
    fields.finish();
    return unit;
}

template <class Entry>
void check_names_differ(const TomlFields& fields, std::string_view key, const std::vector<Entry>& entries) {
    for (size_t i = 0; i < entries.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            if (entries[i].name == entries[j].name)
                fields.refuse(key, fmt::format("has two entries of the name {}", entries[i].name));
}

Machine read_fields(TomlFields fields) {
    Machine machine;
    machine.name = fields.text("name");
    machine.isa = choice(fields, "isa", std::array{Isa::kX86_64, Isa::kAArch64});
    machine.cores = fields.integer("cores", 1, kMaxCores);
    machine.cache_line_bytes = fields.integer("cache_line_bytes", 1, 4096);
    machine.compiler = read_compiler(fields.table("compiler"));
    if (fields.has("measured_with")) machine.measured_with = fields.text("measured_with");
    for (const TomlFields& level : fields.tables("memory")) machine.memory.push_back(read_level(level));
    for (const TomlFields& unit : fields.tables("unit"))
        machine.units.push_back(read_unit(unit, machine.memory));
    machine.barriers = read_barriers(fields);
    machine.rank_links = read_rank_links(fields);
    machine.micro_kernels = read_micro_kernels(fields, machine.memory);
    fields.finish();
    check_names_differ(fields, "memory", machine.memory);
    check_names_differ(fields, "unit", machine.units);
    if (find_unit(machine, UnitKind::kVector, "f32") == nullptr)
        fields.refuse("unit", "has no vector unit with f32 operands", "the portable one has 4 lanes");
    return machine;
}

}  // namespace

Machine parse_machine(std::string_view text, const std::string& where) {
    const TomlDocument document(text, where);
    return read_fields(document.fields());
}

Machine read_machine(const std::filesystem::path& path) {
    return parse_machine(read_toml_text(path, "machine"), path.string());
}

}  // namespace tessera::machine
