#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "machine/description.h"
#include "machine/level_fields.h"
#include "machine/toml_fields.h"

/// Parts of a CPU, which the formats of descriptions have in common.
namespace tessera::machine {

constexpr int64_t kMaxCores = 1 << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 60;

/// A unit of a CPU with operands and registers, and with peaks from registers and these levels of memory; or
/// another one with a stated rate.
Unit read_unit(TomlFields fields, const std::vector<std::string>& memory, bool is_of_cpu, const Clock& clock);

/// Three positive numbers: `block`.
std::array<int64_t, 3> read_block(TomlFields& fields);

/// The operations that a special function counts as: at least 1.
double read_special_operations(TomlFields& fields, std::string_view key);

/// Picojoules of each kind of work.
Energy read_energy(TomlFields fields);

/// `isa`, `cache_line_bytes`, `compiler`, `measured_with`. Other measurements have other readers
/// (machine/measured_fields.h).
Cpu read_cpu(TomlFields& fields);

/// @throws Error where two entries of the list `key` have one name
template <class Entry>
void check_names_differ(const TomlFields& fields, std::string_view key, const std::vector<Entry>& entries) {
    for (size_t i = 0; i < entries.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            if (entries[i].name == entries[j].name)
                fields.refuse(key, "has two entries of the name " + entries[i].name);
}

/// @throws Error where no unit is what every compilation needs
void check_f32_vector(const TomlFields& fields, const Machine& machine);

}  // namespace tessera::machine
