#include "machine/machine.h"

#include <algorithm>
#include <tuple>

#include "machine/machine_text.h"
#include "support/error.h"
#include "support/hash.h"

namespace tessera::machine {
namespace {

const ComputeUnit& f32_vector_unit(const Machine& machine) {
    const ComputeUnit* unit = find_unit(machine, UnitKind::kVector, "f32");
    TESSERA_CHECK(unit != nullptr, "machine {}", machine.name);
    return *unit;
}

}  // namespace

std::string_view name(Isa isa) {
    return isa == Isa::kX86_64 ? "x86-64" : "aarch64";
}

std::string_view name(UnitKind kind) {
    switch (kind) {
        case UnitKind::kScalar:
            return "scalar";
        case UnitKind::kVector:
            return "vector";
        case UnitKind::kMatrix:
            return "matrix";
    }
    TESSERA_CHECK(false, "kind {}", static_cast<int>(kind));
}

const ComputeUnit* find_unit(const Machine& machine, UnitKind kind, std::string_view type) {
    for (const ComputeUnit& unit : machine.units) {
        const bool has_type = std::all_of(unit.operands.begin(), unit.operands.end(),
                                          [&](const OperandLanes& operand) { return operand.type == type; });
        if (unit.kind == kind && has_type) return &unit;
    }
    return nullptr;
}

const ReadBandwidth* find_bandwidth(const MemoryLevel& level, int64_t threads) {
    const ReadBandwidth* best = nullptr;
    for (const ReadBandwidth& entry : level.read_bandwidth)
        if (entry.threads <= threads) best = &entry;
    return best;
}

const RankLink* find_rank_link(const Machine& machine, int64_t ranks) {
    for (const RankLink& link : machine.rank_links)
        if (link.ranks == ranks) return &link;
    return nullptr;
}

void set_rank_link(Machine& machine, RankLink link) {
    std::erase_if(machine.rank_links, [&](const RankLink& other) {
        return other.ranks == link.ranks && other.transport == link.transport;
    });
    const auto place = std::ranges::find_if(machine.rank_links, [&](const RankLink& other) {
        return std::tie(other.transport, other.ranks) > std::tie(link.transport, link.ranks);
    });
    machine.rank_links.insert(place, std::move(link));
}

const UnitPeak* find_peak(const ComputeUnit& unit, std::string_view level) {
    for (const UnitPeak& peak : unit.peaks)
        if (peak.level == level) return &peak;
    return nullptr;
}

double peak(const ComputeUnit& unit) {
    double most = 0;
    for (const UnitPeak& peak : unit.peaks) most = std::max(most, peak.operations_per_second);
    return most;
}

size_t near_level(const Machine& machine) {
    return std::min<size_t>(1, machine.memory.size() - 1);
}

int64_t vector_lanes(const Machine& machine) {
    return f32_vector_unit(machine).operands.front().lanes.front().factor;
}

int64_t vector_registers(const Machine& machine) {
    return f32_vector_unit(machine).registers;
}

std::string content_hash(const Machine& machine) {
    return hash_hex(print_machine(machine));
}

}  // namespace tessera::machine
