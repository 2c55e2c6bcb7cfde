#include "nest/nests/open_problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::nests {
namespace {

LevelCost cost_of(const KernelFile& file) {
    for (const LevelCost cost : {LevelCost::kNncase, LevelCost::kOverlap, LevelCost::kSerial})
        if (*file.cost == name(cost)) return cost;
    throw Error(file.where, "cost", fmt::format("is `{}`", *file.cost), "write nncase, overlap or serial");
}

/// The nest of a file, with the levels spelled out that `?` stands for.
OpenNest opened(const WrittenNest& written, const LevelMachine& machine) {
    OpenNest open{.loops = written.loops, .items = {}};
    for (const WrittenNest::Item& item : written.items) {
        if (const auto* inner = std::get_if<WrittenNest>(&item)) {
            open.items.emplace_back(opened(*inner, machine));
        } else if (const auto* op = std::get_if<nest::WrittenOperator>(&item)) {
            open.items.emplace_back(*op);
        } else {
            const auto& move = std::get<nest::WrittenMove>(item);
            OpenMove choice{.kind = move.kind, .tensor = move.tensor, .levels = {}};
            if (move.level != "?")
                choice.levels = {move.level};
            else
                for (size_t l = 0; l < machine.levels.size(); ++l)
                    choice.levels.push_back(l == 0 && move.kind != MoveKind::kKeep ? ""
                                                                                   : machine.levels[l].name);
            open.items.emplace_back(std::move(choice));
        }
    }
    return open;
}

}  // namespace

OpenProblem make_problem(const KernelFile& file) {
    if (!file.levels || !file.cost || !file.sizes)
        throw Error(file.where, "", "is no open problem on a machine with levels",
                    "add lines `level ..`, `peak ..`, `cost serial` and `sizes every`");
    if (file.nest.has_value() == file.reorder.has_value())
        throw Error(file.where, "",
                    file.nest ? "has both a nest and `reorder`" : "has neither a nest nor `reorder`",
                    "keep one of them: a nest with open sizes, or a line `reorder`");
    OpenProblem problem{.kernel = make_kernel(file),
                        .machine = *file.levels,
                        .cost = cost_of(file),
                        .sizes = *file.sizes,
                        .structures = {}};
    if (file.reorder) {
        problem.structures = merged_structures(problem.kernel, problem.machine, *file.reorder);
    } else {
        try {
            problem.structures.push_back(
                opened(nest::parse_braces(*file.nest, file.where, nest::Moves::kLevels), problem.machine));
        } catch (const BrokenForm& broken) {
            throw Error(file.where, "nest", broken.what());
        }
    }
    return problem;
}

}  // namespace tessera::nests
