#include "partition/chip_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "partition/chip_part.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

struct Table {
    chip::Operator rows;
    PlannedOperator planned;
};

/// The table format has four decimals.
double in_tables(double cycles) {
    return std::round(cycles * 1e4) / 1e4;
}

/// Whether nothing of `a` is worse than of `b`. On the link no worse means less traffic and less of it in the
/// time that it takes.
bool is_no_worse(const chip::Row& a, const chip::Row& b) {
    return a.preload_bytes <= b.preload_bytes && a.exec_bytes <= b.exec_bytes && a.execute() <= b.execute() &&
           a.traffic() <= b.traffic() && a.link_in <= b.link_in;
}

/// Keeps the rows that are not worse than another, the first of equal ones.
void keep_best_rows(Table& table) {
    std::vector<chip::Row> rows;
    std::vector<PlannedRow> planned;
    const std::vector<chip::Row>& all = table.rows.rows;
    for (size_t i = 0; i < all.size(); ++i) {
        bool is_kept = true;
        for (size_t j = 0; j < all.size() && is_kept; ++j)
            is_kept = j == i || !is_no_worse(all[j], all[i]) || (is_no_worse(all[i], all[j]) && i < j);
        if (!is_kept) continue;
        rows.push_back(all[i]);
        planned.push_back(std::move(table.planned.rows[i]));
    }
    table.rows.rows = std::move(rows);
    table.planned.rows = std::move(planned);
}

Table table_of(const ChipPart& part, const chip::ChipDescription& chip) {
    const PartitionPlans plans(part.op, chip, part.exchange);
    const Definition& definition = part.op.bound.definition;
    Table table;
    table.rows.name = part.op.name;
    PlannedOperator& planned = table.planned;
    for (const Iterator& iterator : definition.iterators) planned.iterators.push_back(iterator.name);
    for (const TensorDecl& tensor : definition.tensors) planned.tensors.push_back(tensor.name);
    planned.extents = part.op.bound.extents.iterators;
    planned.op = part.op;
    planned.exchange = part.exchange;
    planned.cut = part.cut;
    planned.hbm_bytes = plans.hbm_bytes();
    planned.stored_bytes = plans.stored_bytes();
    planned.exchange_bytes = part.exchange_bytes;
    planned.uses_matrix_unit = plans.cost().uses_matrix_unit();
    const int64_t least = tile_count(planned.hbm_bytes, chip.chip.cores);
    // Preloads follow each other (paper 003, 4.5, rule 2), so each waits for the latency of the HBM.
    const double hbm =
        least == 0
            ? 0
            : static_cast<double>(least * chip.chip.cores) / chip.hbm_bytes_per_cycle() + chip.hbm_latency();
    for (const ExecutePlan& execute : plans.front(planned.counts)) {
        for (const PreloadPlan& preload : plans.preloads(execute)) {
            // A preload may not be less than what the HBM delivers, though cores without a tile could hold
            // some.
            const int64_t bytes = std::max(preload.preload_bytes, least);
            if (bytes > chip.chip.sram_bytes) continue;
            table.rows.rows.push_back({.preload_bytes = bytes,
                                       .exec_bytes = execute.exec_bytes,
                                       .compute = in_tables(execute.compute),
                                       .shift = in_tables(execute.shift),
                                       .distribute = in_tables(preload.distribute),
                                       .hbm = hbm,
                                       .link_in = plans.preload_link_cycles(bytes)});
            const auto tiles = static_cast<double>(execute.tiles);
            planned.rows.push_back({execute, preload, tiles * plans.cost().matrix_flops(execute.sizes),
                                    tiles * plans.cost().vector_flops(execute.sizes)});
        }
    }
    keep_best_rows(table);
    planned.counts.rows = static_cast<int64_t>(table.rows.rows.size());
    return table;
}

/// Equal for operators that have the same table.
std::string key_of(const ChipPart& part) {
    std::string key = print(part.op.bound.definition);
    for (const int64_t dim : part.op.bound.extents.dims) key += fmt::format(" {}", dim);
    for (const Place place : part.op.places) key += place == Place::kHbm ? " hbm" : " chip";
    return key + fmt::format(" {} {}", part.cut ? static_cast<int64_t>(*part.cut) : -1, part.exchange_bytes);
}

[[noreturn]] void refuse_operator(const ChipPart& part, const chip::ChipDescription& chip, int64_t sram_bytes,
                                  const std::string& where) {
    const PartitionPlans plans(part.op, chip, part.exchange);
    int64_t least = INT64_MAX;
    plans.for_each([&](const ExecutePlan& plan) { least = std::min(least, plan.exec_bytes); });
    throw Error(where, part.op.name,
                fmt::format("has no plan that fits: the smallest takes {} bytes of a core, which has {}",
                            least, sram_bytes),
                "give the chip more SRAM or cores, or the workload a smaller batch");
}

}  // namespace

ChipTables chip_tables(const Workload& workload, const chip::ChipDescription& chip,
                       const std::string& where) {
    ChipTables tables;
    tables.carried_bytes = tile_count(workload.carried_bytes, int64_t{chip.chip.cores} * chip.pod.chips);
    tables.problem = {.sram_bytes = chip.chip.sram_bytes - tables.carried_bytes,
                      .clock_hz = chip.chip.clock_hz,
                      .share = chip::Share::kFair,
                      .operators = {},
                      .sequence = workload.sequence,
                      .repeats = workload.repeats};
    if (tables.problem.sram_bytes < 1)
        throw Error(where, "sram.bytes",
                    fmt::format("leaves no room: values that wait take {} bytes of a core, which has {}",
                                tables.carried_bytes, chip.chip.sram_bytes));
    HeldBytes held;
    std::map<std::string, size_t> known;
    for (const WorkOperator& op : workload.operators) {
        const ChipPart part = chip_part(op, chip, held);
        const auto [place, is_new] = known.emplace(key_of(part), tables.operators.size());
        Table table = is_new
                          ? table_of(part, chip)
                          : Table{tables.problem.operators[place->second], tables.operators[place->second]};
        table.rows.name = op.name;
        const bool fits = std::any_of(table.rows.rows.begin(), table.rows.rows.end(),
                                      [&](const chip::Row& row) { return tables.problem.is_usable(row); });
        if (!fits) refuse_operator(part, chip, tables.problem.sram_bytes, where);
        tables.problem.operators.push_back(std::move(table.rows));
        tables.operators.push_back(std::move(table.planned));
    }
    std::vector<double> flops;
    for (const WorkOperator& op : workload.operators) flops.push_back(product_flops(op.bound));
    for (const size_t o : workload.sequence) {
        tables.hbm_bytes += tables.operators[o].hbm_bytes;
        tables.stored_bytes += tables.operators[o].stored_bytes;
        tables.product_flops += flops[o];
    }
    return tables;
}

}  // namespace tessera::partition
