#include "chip/partition/chip_tables.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "chip/partition/chip_part.h"
#include "chip/partition/energy.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

struct Table {
    chip::Operator rows;
    PlannedOperator planned;
};

/// Rounds to the four decimals of the table format.
double in_tables(double cycles) {
    return std::round(cycles * 1e4) / 1e4;
}

/// True if `a` is no worse than `b` in anything. On the link that means less traffic, and less of it in its
/// time.
bool is_no_worse(const chip::Row& a, const chip::Row& b) {
    return a.preload_bytes <= b.preload_bytes && a.exec_bytes <= b.exec_bytes && a.execute() <= b.execute() &&
           a.traffic() <= b.traffic() && a.link_in <= b.link_in && a.hbm <= b.hbm && a.latency <= b.latency;
}

/// Keeps the rows that no other row beats in everything, the first of equal ones.
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

/// Makes the table of one operator.
class TableMaker {
public:
    TableMaker(const ChipPart& part, const chip::ChipDescription& chip, int64_t room)
        : chip_(chip),
          room_(room),
          plans_(part.op, chip, part.exchange),
          least_(tile_count(plans_.hbm_bytes(), chip.chip.cores)) {
        const Definition& definition = part.op.bound.definition;
        table_.rows.name = part.op.name;
        PlannedOperator& planned = table_.planned;
        for (const Iterator& iterator : definition.iterators) planned.iterators.push_back(iterator.name);
        for (const TensorDecl& tensor : definition.tensors) planned.tensors.push_back(tensor.name);
        planned.extents = part.op.bound.extents.iterators;
        planned.op = part.op;
        planned.exchange = part.exchange;
        planned.cut = part.cut;
        planned.hbm_bytes = plans_.hbm_bytes();
        planned.stored_bytes = plans_.stored_bytes();
        planned.exchange_bytes = part.exchange_bytes;
        planned.uses_matrix_unit = plans_.cost().uses_matrix_unit();
    }

    Table make(RowChoice choice) {
        PlanCounts& counts = table_.planned.counts;
        if (choice == RowChoice::kTime) {
            add_rows(plans_.front(counts));
        } else {
            const double most = least_picojoules() * (1 + kSameEnergy);
            add_rows(
                plans_.front(counts, [&](const ExecutePlan& plan) { return picojoules(plan, most) <= most; }),
                most);
        }
        keep_best_rows(table_);
        counts.rows = static_cast<int64_t>(table_.rows.rows.size());
        return std::move(table_);
    }

    /// Adds the row of a stated plan.
    void add(const StatedPlan& stated, const std::string& where, const std::string& place) {
        const ExecutePlan execute = plans_.execution_of(stated, where, place);
        std::vector<int64_t> known;
        for (const PreloadPlan& preload : plans_.preloads(execute)) {
            known.push_back(preload.parts);
            if (preload.parts != stated.preload_parts) continue;
            add_row(execute, preload);
            return;
        }
        throw Error(where, place,
                    fmt::format("preloads {} in {} parts, expected one of [{}]", table_.rows.name,
                                stated.preload_parts, fmt::join(known, ", ")));
    }
    Table take() { return std::move(table_); }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    /// Relative tolerance for sums in another order.
    static constexpr double kSameEnergy = 1e-12;

    /// A preload is at least what the HBM delivers, though cores without a tile could hold some of it.
    int64_t bytes_of(const PreloadPlan& preload) const { return std::max(preload.preload_bytes, least_); }

    PlannedRow planned_row(const ExecutePlan& execute, const PreloadPlan& preload) const {
        const auto tiles = static_cast<double>(execute.tiles);
        return {execute, preload, tiles * plans_.cost().matrix_flops(execute.sizes),
                tiles * plans_.cost().vector_flops(execute.sizes)};
    }

    /// The least energy of a plan with any of its preloads, within the room; infinite beyond `most`.
    double picojoules(const ExecutePlan& plan, double most) const {
        if (plan.exec_bytes > room_) return kInfinity;
        const auto of = [&](const PreloadPlan& preload) {
            return row_picojoules(table_.planned, planned_row(plan, preload), chip_);
        };
        if (of({.distribute_bytes = plans_.least_preload_bytes(plan)}) > most) return kInfinity;
        double least = kInfinity;
        for (const PreloadPlan& preload : plans_.preloads(plan))
            if (bytes_of(preload) <= room_) least = std::min(least, of(preload));
        return least;
    }

    double least_picojoules() const {
        double least = kInfinity;
        plans_.for_each([&](const ExecutePlan& plan) {
            // The checks for a place on the grid and for execution take longest, so they come last.
            const double own = picojoules(plan, least);
            if (own < least && plans_.fits(plan) && plans_.can_execute(plan)) least = own;
        });
        return least;
    }

    void add_rows(const std::vector<ExecutePlan>& executes, double most_picojoules = kInfinity) {
        for (const ExecutePlan& execute : executes)
            for (const PreloadPlan& preload : plans_.preloads(execute)) {
                if (bytes_of(preload) > chip_.chip.sram_bytes) continue;
                if (most_picojoules < kInfinity &&
                    row_picojoules(table_.planned, planned_row(execute, preload), chip_) > most_picojoules)
                    continue;
                add_row(execute, preload);
            }
    }

    void add_row(const ExecutePlan& execute, const PreloadPlan& preload) {
        const double reading = static_cast<double>(least_ * chip_.chip.cores) / chip_.hbm_bytes_per_cycle();
        // Preloads follow each other (paper 003, 4.5, rule 2), so each waits for the latencies of the HBM and
        // of the network.
        const int64_t bytes = bytes_of(preload);
        table_.rows.rows.push_back({.preload_bytes = bytes,
                                    .exec_bytes = execute.exec_bytes,
                                    .compute = in_tables(execute.compute + preload.distribute_latency),
                                    .shift = in_tables(execute.shift),
                                    .distribute = in_tables(preload.distribute),
                                    .hbm = reading,
                                    .link_in = plans_.preload_link_cycles(preload, bytes),
                                    .latency = least_ == 0 ? 0 : chip_.hbm_latency() + preload.latency});
        table_.planned.rows.push_back(planned_row(execute, preload));
    }

    const chip::ChipDescription& chip_;
    int64_t room_;  ///< of a core's SRAM
    PartitionPlans plans_;
    int64_t least_;  ///< bytes that the HBM delivers to a core, in the mean
    Table table_;
};

/// A key that is equal for operators with the same table.
std::string key_of(const ChipPart& part) {
    std::string key = print(part.op.bound.definition);
    for (const int64_t dim : part.op.bound.extents.dims) key += fmt::format(" {}", dim);
    for (const std::vector<double>& contents : part.op.bound.contents)
        key += fmt::format(" [{}]", fmt::join(contents, " "));
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

/// @pre the tables have the operators of the workload
void add_totals(const Workload& workload, ChipTables& tables) {
    std::vector<double> flops;
    for (const WorkOperator& op : workload.operators) flops.push_back(product_flops(op.bound));
    for (const size_t o : workload.sequence) {
        tables.hbm_bytes += tables.operators[o].hbm_bytes;
        tables.stored_bytes += tables.operators[o].stored_bytes;
        tables.product_flops += flops[o];
    }
}

chip::ScheduleProblem problem_without_operators(const Workload& workload, const chip::ChipDescription& chip,
                                                int64_t carried_bytes) {
    return {.sram_bytes = chip.chip.sram_bytes - carried_bytes,
            .clock_hz = chip.chip.clock_hz,
            .share = chip::Share::kPhases,  // as chip/link_queue.h
            .operators = {},
            .sequence = workload.sequence,
            .repeats = workload.repeats};
}

}  // namespace

ChipTables chip_tables(const Workload& workload, const chip::ChipDescription& chip, const std::string& where,
                       RowChoice choice, const std::function<void(size_t)>& on_operator) {
    if (choice == RowChoice::kLeastEnergy && !chip.energy)
        throw Error(where, "energy", "is not described, and plans shall take little of it",
                    "add [energy] with picojoules of each kind of work");
    ChipTables tables;
    tables.carried_bytes = tile_count(workload.carried_bytes, int64_t{chip.chip.cores} * chip.pod.chips);
    tables.problem = problem_without_operators(workload, chip, tables.carried_bytes);
    if (tables.problem.sram_bytes < 1)
        throw Error(where, "capacity_bytes",
                    fmt::format("leaves no room: values that wait take {} bytes of a core, which has {}",
                                tables.carried_bytes, chip.chip.sram_bytes));
    HeldBytes held;
    std::map<std::string, size_t> known;
    for (const WorkOperator& op : workload.operators) {
        const ChipPart part = chip_part(op, chip, held);
        const auto [place, is_new] = known.emplace(key_of(part), tables.operators.size());
        Table table = is_new
                          ? TableMaker(part, chip, tables.problem.sram_bytes).make(choice)
                          : Table{tables.problem.operators[place->second], tables.operators[place->second]};
        table.rows.name = op.name;
        table.planned.op = part.op;  // another one with the same table has other values
        const bool fits = std::any_of(table.rows.rows.begin(), table.rows.rows.end(),
                                      [&](const chip::Row& row) { return tables.problem.is_usable(row); });
        if (!fits) refuse_operator(part, chip, tables.problem.sram_bytes, where);
        tables.problem.operators.push_back(std::move(table.rows));
        tables.operators.push_back(std::move(table.planned));
        if (on_operator) on_operator(tables.operators.size());
    }
    add_totals(workload, tables);
    return tables;
}

StatedTables stated_tables(const Workload& workload, const chip::ChipDescription& chip,
                           const std::vector<StatedPlan>& plans, const std::string& where) {
    StatedTables stated;
    stated.tables.problem = problem_without_operators(workload, chip, 0);
    HeldBytes held;
    std::vector<ChipPart> parts;
    for (const WorkOperator& op : workload.operators) parts.push_back(chip_part(op, chip, held));
    std::deque<TableMaker> makers;  // they stay where they are
    for (const ChipPart& part : parts) makers.emplace_back(part, chip, chip.chip.sram_bytes);
    std::vector<std::vector<StatedPlan>> known(makers.size());
    for (size_t i = 0; i < plans.size(); ++i) {
        const size_t o = workload.sequence[i];
        const auto found = std::find(known[o].begin(), known[o].end(), plans[i]);
        stated.rows.push_back(static_cast<size_t>(found - known[o].begin()));
        if (found != known[o].end()) continue;
        makers[o].add(plans[i], where, fmt::format("operators[{}].plan", i));
        known[o].push_back(plans[i]);
    }
    for (TableMaker& maker : makers) {
        Table table = maker.take();
        stated.tables.problem.operators.push_back(std::move(table.rows));
        stated.tables.operators.push_back(std::move(table.planned));
    }
    add_totals(workload, stated.tables);
    return stated;
}

}  // namespace tessera::partition
