#include "chip/partition/tables_json.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "support/error.h"

namespace tessera::partition {

std::string tables_json(const ChipTables& tables, const chip::ChipDescription& chip,
                        const std::string& where) {
    if (chip.chip.is_grid())
        throw Error(where, "topology", "is a grid, and tables have one rate for the link into each core",
                    "plan it with `tessera chip plan`, or take an all-to-all network");
    const auto per_second = [&](double rate) { return std::llround(rate * chip.chip.clock_hz); };
    nlohmann::ordered_json operators = nlohmann::ordered_json::array(), sequence = operators;
    for (size_t o = 0; o < tables.operators.size(); ++o) {
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (const chip::Row& row : tables.problem.operators[o].rows)
            rows.push_back({{"preload_bytes", row.preload_bytes},
                            {"exec_bytes", row.exec_bytes},
                            {"compute", row.compute},
                            {"shift", row.shift},
                            {"distribute", row.distribute}});
        operators.push_back(
            {{"name", tables.problem.operators[o].name},
             {"min_preload_bytes", tile_count(tables.operators[o].hbm_bytes, chip.chip.cores)},
             {"rows", std::move(rows)}});
    }
    const std::vector<size_t>& all = tables.problem.sequence;
    for (size_t i = 0, r = 0; i < all.size();) {
        if (r < tables.problem.repeats.size() && tables.problem.repeats[r].first == i) {
            const chip::Repeat& repeat = tables.problem.repeats[r++];
            nlohmann::ordered_json of = nlohmann::ordered_json::array();
            for (size_t k = 0; k < repeat.length; ++k) of.push_back(all[i + k]);
            sequence.push_back({{"repeat", repeat.count}, {"of", std::move(of)}});
            i += repeat.length * repeat.count;
        } else {
            sequence.push_back(all[i++]);
        }
    }
    return nlohmann::ordered_json{{"cores", chip.chip.cores},
                                  {"sram_bytes", tables.problem.sram_bytes},
                                  {"clock_hz", std::llround(chip.chip.clock_hz)},
                                  {"hbm_bytes_per_second", per_second(chip.hbm_bytes_per_cycle())},
                                  {"hbm_latency_cycles", chip.hbm_latency() + 2 * chip.chip.latency},
                                  {"link_bytes_per_second", per_second(chip.chip.link_bytes_per_cycle)},
                                  {"share", chip::name(tables.problem.share)},
                                  {"operators", std::move(operators)},
                                  {"sequence", std::move(sequence)}}
               .dump() +
           "\n";
}

std::string plan_text(const PlannedOperator& op, const ExecutePlan& plan) {
    std::string text;
    for (size_t i = 0; i < plan.sizes.size(); ++i)
        if (const int64_t count = tile_count(op.extents[i], plan.sizes[i]); count > 1)
            text += fmt::format("{}{}/{}", text.empty() ? "" : " ", op.iterators[i], count);
    if (text.empty()) text = "whole";
    if (plan.steps == 1) return text;
    std::string rotating;
    for (size_t t = 0; t < op.tensors.size(); ++t)
        if (rotates_in(plan.rotating, t))
            rotating += fmt::format("{}{}", rotating.empty() ? "" : " and ", op.tensors[t]);
    return text + fmt::format(", {} in {} steps along {}", rotating, plan.steps, op.iterators[plan.along]);
}

}  // namespace tessera::partition
