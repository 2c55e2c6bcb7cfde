#include "chip/partition/device_plan.h"

#include <map>
#include <utility>

#include <fmt/core.h>

#include "chip/partition/operator_program.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

size_t parts_in(const chip::ProgramOperator& op) {
    size_t parts = op.tiles.size();
    for (const chip::TransferKind kind : chip::kTransferKinds)
        for (const chip::Transfer& transfer : op.of(kind)) parts += transfer.to.size();
    return parts;
}

}  // namespace

std::vector<chip::ProgramEntry> entries_of(const chip::Schedule& schedule) {
    std::vector<chip::ProgramEntry> entries;
    size_t next = 0;
    for (size_t i = 0; i < schedule.rows.size(); ++i) {
        for (; next < schedule.order.size() && schedule.slots[schedule.order[next]] <= i; ++next)
            entries.push_back({false, schedule.order[next]});
        entries.push_back({true, i});
    }
    return entries;
}

chip::DeviceProgram device_program(const ChipTables& tables, const chip::Schedule& schedule,
                                   const chip::ChipDescription& chip, const std::string& name,
                                   size_t most_parts) {
    const chip::ScheduleProblem& problem = tables.problem;
    chip::DeviceProgram program{.name = name, .operators = {}, .entries = {}, .sequence = {}};
    std::map<std::pair<size_t, size_t>, size_t> known;  // operator and row, and its place in the program
    std::vector<size_t> parts_of_operator;
    size_t parts = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        const size_t o = problem.sequence[i], row = schedule.rows[i];
        const auto [found, is_new] = known.emplace(std::pair(o, row), program.operators.size());
        if (is_new) {
            program.operators.push_back(make_operator(tables.operators[o], problem.operators[o].rows[row],
                                                      tables.operators[o].rows[row], chip)
                                            .program);
            program.operators.back().name = problem.operators[o].name;
            parts_of_operator.push_back(parts_in(program.operators.back()));
        }
        program.sequence.push_back(found->second);
        parts += parts_of_operator[found->second];
        if (parts > most_parts)
            throw Error("", problem.at(i).name,
                        fmt::format("makes more than {} transfers and tiles of the program", most_parts),
                        "take a smaller chip, or a graph of a few operators");
    }
    program.entries = entries_of(schedule);
    return program;
}

}  // namespace tessera::partition
