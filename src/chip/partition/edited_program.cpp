#include "chip/partition/edited_program.h"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "chip/partition/stated_plan.h"
#include "chip/read_chip.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::partition {
namespace {

using chip::Tile;
using chip::Transfer;
using chip::TransferKind;

/// Takes the items with each key one after the other.
template <typename Key>
class Unused {
public:
    void add(const Key& key, size_t number) { numbers_.emplace(key, number); }
    /// The first one that was not taken yet.
    std::optional<size_t> take(const Key& key) {
        const auto found = numbers_.lower_bound(key);
        if (found == numbers_.end() || found->first != key) return std::nullopt;
        const size_t number = found->second;
        numbers_.erase(found);
        return number;
    }

private:
    std::multimap<Key, size_t> numbers_;  // equal keys stay in order
};

auto key_of(const Transfer& transfer) {
    return std::tuple(transfer.from, transfer.to, transfer.step, transfer.bytes);
}

/// Matches one operator of an edited program with the work of its plan.
class OperatorEdits {
public:
    OperatorEdits(const chip::ProgramOperator& made, const OperatorContents& contents, size_t position,
                  const std::string& where)
        : made_(made), contents_(contents), position_(position), where_(where) {}

    OperatorContents contents_of(const chip::ProgramOperator& edited) const {
        OperatorContents contents;
        for (const TransferKind kind : chip::kTransferKinds) add_transfers(kind, edited.of(kind), contents);
        Unused<std::pair<int64_t, int32_t>> tiles;
        for (size_t k = 0; k < made_.tiles.size(); ++k)
            tiles.add({made_.tiles[k].step, made_.tiles[k].core}, k);
        for (size_t k = 0; k < edited.tiles.size(); ++k) {
            const Tile& tile = edited.tiles[k];
            const auto found = tiles.take({tile.step, tile.core});
            if (!found)
                fail("compute", k,
                     fmt::format("is a tile on core {} in step {}, which the plan of {} does not have",
                                 tile.core, tile.step, shown(made_.name)));
            contents.tiles.push_back(contents_.tiles[*found]);
        }
        return contents;
    }

private:
    [[noreturn]] void fail(const char* list, size_t item, const std::string& problem) const {
        throw Error(where_, fmt::format("operators[{}].{}[{}]", position_, list, item), problem,
                    "change the plan and leave out work and spaces, which then follow from it");
    }

    void add_transfers(TransferKind kind, const std::vector<Transfer>& edited,
                       OperatorContents& contents) const {
        using Key = decltype(key_of(std::declval<Transfer>()));
        Unused<Key> unused;
        for (size_t t = 0; t < made_.of(kind).size(); ++t) unused.add(key_of(made_.of(kind)[t]), t);
        for (size_t t = 0; t < edited.size(); ++t) {
            const auto found = unused.take(key_of(edited[t]));
            if (!found)
                fail(name(kind), t,
                     fmt::format(
                         "moves {} bytes to [{}]{}, which the plan of {} does not", edited[t].bytes,
                         fmt::join(edited[t].to, ", "),
                         kind == TransferKind::kPreload ? "" : fmt::format(" from core {}", edited[t].from),
                         shown(made_.name)));
            contents.transfers[static_cast<size_t>(kind)].push_back(contents_.of(kind)[*found]);
        }
    }

    const chip::ProgramOperator& made_;
    const OperatorContents& contents_;
    size_t position_;
    const std::string& where_;
};

}  // namespace

EditedProgram read_edited_program(std::string_view json, const std::string& where, const Workload& workload,
                                  const chip::ChipDescription& chip) {
    const JsonCursor file = chip::parse_device_program(json, where);
    EditedProgram edited{.program = chip::read_planned_program(file, chip.chip), .plans = {}};
    const std::vector<JsonCursor> operators = file.at("operators").items();
    if (operators.size() != workload.sequence.size())
        file.at("operators")
            .fail(fmt::format("has {} entries, expected one for each of the {} operators of {}",
                              operators.size(), workload.sequence.size(), workload.name));
    for (size_t i = 0; i < operators.size(); ++i) {
        const WorkOperator& op = workload.operators[workload.sequence[i]];
        if (const std::string name = operators[i].string_or("name", op.name); name != op.name)
            operators[i].at("name").fail(fmt::format(
                "is \"{}\", expected \"{}\", the operator at this position", shown(name), op.name));
        const auto plan = operators[i].find("plan");
        if (!plan)
            operators[i].fail("has no `plan`, from which follows what its transfers carry",
                              "`tessera chip run --out` writes programs that can be executed");
        edited.plans.push_back(read_stated_plan(*plan, op.bound));
        edited.program.operators[i].name = op.name;
    }
    return edited;
}

chip::Schedule schedule_of(const chip::DeviceProgram& program, std::vector<size_t> rows) {
    chip::Schedule schedule{.rows = std::move(rows), .order = {}, .slots = {}};
    schedule.slots.resize(program.size());
    size_t executes = 0;
    for (const chip::ProgramEntry& entry : program.entries) {
        if (entry.is_execute) {
            ++executes;
            continue;
        }
        schedule.order.push_back(entry.op);
        schedule.slots[entry.op] = executes;
    }
    return schedule;
}

void take_edits(ExecutableProgram& made, const EditedProgram& edited, const std::string& where) {
    made.program.entries = edited.program.entries;
    for (size_t i = 0; i < edited.program.operators.size(); ++i) {
        const chip::ProgramOperator& own = edited.program.operators[i];
        if (own.execute_bytes.empty()) continue;
        OperatorContents& contents = made.operators[i].contents;
        contents = OperatorEdits(made.program.operators[i], contents, i, where).contents_of(own);
        made.program.operators[i] = own;
    }
}

}  // namespace tessera::partition
