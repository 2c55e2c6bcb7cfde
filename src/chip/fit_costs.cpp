#include "chip/fit_costs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::chip {
namespace {

constexpr size_t kLeastSizes = 3;

void expect_enough(const std::string& what, size_t samples, size_t inputs, const std::string& where) {
    if (samples < least_samples(inputs))
        throw Error(
            where, what,
            fmt::format("has {} measurements, too few for a model of {} input{}: expected at least {}",
                        samples, inputs, inputs == 1 ? "" : "s", least_samples(inputs)),
            "measure more tiles, of varied shapes");
}

/// An input with one value could be anything in the model.
void expect_varied(const std::string& what, const std::vector<CostSample>& samples,
                   std::span<const std::string_view> inputs, const std::string& where) {
    const bool varies =
        std::any_of(inputs.begin(), inputs.end(), [&, i = size_t{0}](std::string_view) mutable {
            const size_t own = i++;
            return std::any_of(samples.begin(), samples.end(), [&](const CostSample& sample) {
                return sample.inputs[own] != samples.front().inputs[own];
            });
        });
    if (!varies)
        throw Error(where, what, "has measurements of one shape only, which tell nothing of others",
                    "measure tiles of varied shapes");
}

FittedLink fit_link(MeasuredLink link, const std::vector<CostSample>& samples, const std::string& where) {
    const std::string what = fmt::format("link {}", name(link));
    expect_enough(what, samples.size(), 1, where);
    std::set<double> sizes;
    for (const CostSample& sample : samples) sizes.insert(sample.inputs[0]);
    if (sizes.size() < kLeastSizes)
        throw Error(
            where, what,
            fmt::format(
                "has measurements of {} size{}, too few for a rate and a latency: expected at least {}",
                sizes.size(), sizes.size() == 1 ? "" : "s", kLeastSizes),
            "measure transfers of varied sizes");
    const FittedTree fitted = fit_line(samples);
    const machine::CostNode& line = fitted.tree.nodes.front();
    if (!(line.slopes[0] > 0))
        throw Error(where, what, "has times that do not grow with the bytes, so it has no rate",
                    "measure larger transfers");
    return {.link = link,
            .samples = samples.size(),
            .latency = std::max(0.0, line.constant),
            .bytes_per_cycle = 1 / line.slopes[0],
            .errors = fitted.errors};
}

}  // namespace

FittedCosts fit_costs(const MeasuredCosts& measured, const std::string& where) {
    FittedCosts costs;
    for (const auto& [kind, samples] : measured.tiles) {
        const std::string what = fmt::format("operator {}", machine::name(kind));
        const auto inputs = machine::inputs_of(kind);
        expect_enough(what, samples.size(), inputs.size(), where);
        expect_varied(what, samples, inputs, where);
        FittedTree fitted = fit_linear_tree(samples);
        costs.tiles.push_back({.costs = {.kind = kind, .nodes = std::move(fitted.tree.nodes)},
                               .samples = samples.size(),
                               .errors = fitted.errors});
    }
    for (const auto& [link, samples] : measured.links) costs.links.push_back(fit_link(link, samples, where));
    return costs;
}

machine::Description with_costs(machine::Description chip, const FittedCosts& costs,
                                const std::string& where) {
    for (const FittedTiles& tiles : costs.tiles) {
        std::erase_if(chip.tile_costs,
                      [&](const machine::TileCosts& own) { return own.kind == tiles.costs.kind; });
        chip.tile_costs.push_back(tiles.costs);
    }
    std::sort(chip.tile_costs.begin(), chip.tile_costs.end(),
              [](const machine::TileCosts& a, const machine::TileCosts& b) { return a.kind < b.kind; });
    for (const FittedLink& fitted : costs.links) {
        const machine::Rate rate{fitted.bytes_per_cycle, machine::Clocked::kCycles};
        const machine::Latency latency{fitted.latency, machine::Clocked::kCycles};
        if (fitted.link == MeasuredLink::kHbm) {
            for (machine::Modules& modules : chip.levels.front().modules) {
                modules.bytes = rate;
                modules.latency = latency;
            }
            continue;
        }
        machine::Level& level = fitted.link == MeasuredLink::kCore ? chip.levels.back() : chip.levels.front();
        if (!level.links)
            throw Error(
                where, "level." + level.name,
                fmt::format("has no `links`, and the table has measurements of link {}", name(fitted.link)));
        level.links->bytes = rate;
        level.links->latency = latency;
    }
    return chip;
}

}  // namespace tessera::chip
