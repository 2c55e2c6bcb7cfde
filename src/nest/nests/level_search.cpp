#include "nest/nests/level_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nest/nests/operator_work.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

/// A size that is open.
struct OpenLoop {
    int64_t extent = 1;
    int64_t most = std::numeric_limits<int64_t>::max();  ///< the fixed size of the loop around it
    std::optional<size_t> outer;                         ///< the open loop around it over the same iterator
};

/// The candidates of one structure.
class Candidates {
public:
    Candidates(const OpenProblem& problem, const OpenNest& open)
        : problem_(problem), kernel_(problem.kernel), open_(open) {
        list(open, {});
        levels_.assign(moves_.size(), 0);
        sizes_.assign(loops_.size(), 1);
    }

    /// Calls `visit` with each, as long as it returns true; false if it did not.
    bool each(const std::function<bool(const Nest&)>& visit) { return choose_level(0, visit); }

private:
    using Around = std::map<std::pair<int, std::string>, OpenLoop>;

    int root_of(const OpenNest& nest) const {
        int root = -1;
        nest.for_each_operator(
            [&](const nest::WrittenOperator& op) { root = kernel_.find_operator(op.name); });
        return root;
    }

    /// Open loops and moves, in the order of the text.
    void list(const OpenNest& nest, Around around) {
        const int root = root_of(nest);
        for (const OpenNest::Loop& loop : nest.loops) {
            const std::pair key{root, loop.iterator};
            OpenLoop& known = around[key];
            if (loop.tile == nest::kOpenTile) {
                OpenLoop open = known;
                open.extent = extent_of(root, loop.iterator);
                loops_.push_back(open);
                known = {.extent = 1, .outer = loops_.size() - 1};
            } else {
                known = {.extent = 1, .most = loop.tile, .outer = {}};
            }
        }
        for (const OpenNest::Item& item : nest.items) {
            if (const auto* inner = std::get_if<OpenNest>(&item)) list(*inner, around);
            if (const auto* move = std::get_if<OpenMove>(&item)) moves_.push_back(move);
        }
    }

    int64_t extent_of(int op, const std::string& iterator) const {
        if (op < 0) return 1;  // the nest is refused when it is built
        const Operator& root = kernel_.operators[static_cast<size_t>(op)];
        const int x = root.bound.definition.iterator(iterator);
        return x < 0 ? 1 : root.extents()[static_cast<size_t>(x)];
    }

    bool choose_level(size_t move, const std::function<bool(const Nest&)>& visit) {
        if (move == moves_.size()) {
            std::ranges::fill(sizes_, 1);
            const auto nest = build();
            return !std::holds_alternative<Nest>(nest) || choose_size(0, visit);
        }
        for (size_t l = 0; l < moves_[move]->levels.size(); ++l) {
            levels_[move] = l;
            if (!choose_level(move + 1, visit)) return false;
        }
        return true;
    }

    bool choose_size(size_t loop, const std::function<bool(const Nest&)>& visit) {
        if (loop == loops_.size()) return visit(std::get<Nest>(build()));
        const OpenLoop& open = loops_[loop];
        const int64_t most = open.outer ? sizes_[*open.outer] : open.most;
        const auto go_on = [&](int64_t size) {
            sizes_[loop] = size;
            return size > most || choose_size(loop + 1, visit);
        };
        const int64_t step = problem_.sizes.step;
        for (int64_t size = step; size <= open.extent; size += step)
            if (!go_on(size)) return false;
        return open.extent % step == 0 || go_on(open.extent);
    }

    std::variant<Nest, Illegal> build() {
        next_loop_ = 0;
        next_move_ = 0;
        return build_nest(kernel_, fill(open_), problem_.machine);
    }

    WrittenNest fill(const OpenNest& open) {
        WrittenNest filled{.loops = open.loops, .items = {}};
        for (WrittenNest::Loop& loop : filled.loops)
            if (loop.tile == nest::kOpenTile) loop.tile = sizes_[next_loop_++];
        for (const OpenNest::Item& item : open.items) {
            if (const auto* inner = std::get_if<OpenNest>(&item)) {
                filled.items.emplace_back(fill(*inner));
            } else if (const auto* op = std::get_if<nest::WrittenOperator>(&item)) {
                filled.items.emplace_back(*op);
            } else {
                const auto& move = std::get<OpenMove>(item);
                const std::string& level = move.levels[levels_[next_move_++]];
                const bool says_nothing =
                    move.kind == MoveKind::kKeep && level == problem_.machine.levels.back().name;
                if (!level.empty() && !says_nothing)
                    filled.items.emplace_back(nest::WrittenMove{move.kind, move.tensor, level});
            }
        }
        return filled;
    }

    const OpenProblem& problem_;
    const Kernel& kernel_;
    const OpenNest& open_;
    std::vector<OpenLoop> loops_;
    std::vector<const OpenMove*> moves_;
    std::vector<size_t> levels_;  ///< of each move: in its levels
    std::vector<int64_t> sizes_;  ///< of each open loop
    size_t next_loop_ = 0;
    size_t next_move_ = 0;
};

/// A lower bound: every nest runs the last operator once and sends its results to memory.
double least_cost(const OpenProblem& problem, int last) {
    const Kernel& kernel = problem.kernel;
    const LevelMachine& machine = problem.machine;
    const Operator& op = kernel.operators[static_cast<size_t>(last)];
    LevelPrice least{.levels = std::vector<LevelUse>(machine.levels.size())};
    const auto units = static_cast<double>(machine.units);
    for (size_t l = 1; l < machine.levels.size(); ++l) {
        for (const Result& result : op.results)
            least.levels[l].seconds +=
                static_cast<double>(
                    kernel.bytes(result.tensor, kernel.tensors[static_cast<size_t>(result.tensor)].made)) /
                machine.levels[l].bandwidth / (machine.levels[l].is_per_unit ? units : 1.0);
        least.memory += least.levels[l].seconds;
    }
    const bool is_timed =
        std::ranges::any_of(machine.times, [&](const OperatorTime& time) { return time.op == op.name(); });
    if (!is_timed) {
        OperatorCounts counts{.points = 1};
        for (const int64_t extent : op.extents()) counts.points *= extent;  // fits: bound_extents
        least.compute = static_cast<double>(work_of(op, counts, kernel.where).flops) / machine.peak / units;
    }
    return least.cost(problem.cost);
}

}  // namespace

std::string_view name(LevelSearchStatus status) {
    switch (status) {
        case LevelSearchStatus::kOptimal:
            return "optimal";
        case LevelSearchStatus::kInfeasible:
            return "infeasible";
        case LevelSearchStatus::kOutOfBudget:
            break;
    }
    return "out of budget";
}

LevelSearchResult search(const OpenProblem& problem, const LevelSearchOptions& options) {
    const Kernel& kernel = problem.kernel;
    LevelSearchResult result{.structures = static_cast<int64_t>(problem.structures.size())};
    int last = -1;
    const auto visit = [&](const Nest& nest) {
        if (result.candidates == options.candidates) {
            result.status = LevelSearchStatus::kOutOfBudget;
            return false;
        }
        ++result.candidates;
        last = nest.last;
        const auto moved = walk(kernel, problem.machine, nest, options.walk);
        if (std::holds_alternative<Illegal>(moved)) return true;
        const LevelPrice priced = price(kernel, problem.machine, nest, std::get<LevelMovement>(moved));
        if (!priced.is_feasible) return true;
        ++result.feasible;
        const double cost = priced.cost(problem.cost);
        if (!result.cost || cost < *result.cost) {
            result.cost = cost;
            result.nest = print(written(kernel, nest, &problem.machine));
        }
        return true;
    };
    for (const OpenNest& open : problem.structures)
        if (!Candidates(problem, open).each(visit)) break;
    if (result.candidates == 0)
        throw Error(kernel.where, "nest", "keeps the rules with no choice of levels",
                    "ask `tessera price` about one of its nests for the reason");
    if (result.status == LevelSearchStatus::kOutOfBudget)
        result.bound = std::min(least_cost(problem, last), result.cost.value_or(least_cost(problem, last)));
    else if (result.cost)
        result.bound = *result.cost;
    else
        result.status = LevelSearchStatus::kInfeasible;
    return result;
}

nlohmann::ordered_json to_json(const LevelSearchResult& result) {
    nlohmann::ordered_json json = {{"nest", nullptr}, {"cost", nullptr}, {"status", name(result.status)}};
    if (result.nest) json["nest"] = *result.nest;
    if (result.cost) json["cost"] = *result.cost;
    json["best"] = result.status == LevelSearchStatus::kOptimal ? json["cost"] : nullptr;
    if (result.status != LevelSearchStatus::kInfeasible) json["bound"] = result.bound;
    json["structures"] = result.structures;
    json["candidates"] = result.candidates;
    json["feasible"] = result.feasible;
    return json;
}

std::string to_text(const LevelSearchResult& result) {
    std::string text = result.nest ? fmt::format("nest    {}\ncost    {:.6g} s\n", *result.nest, *result.cost)
                                   : std::string("nest    -\n");
    text += fmt::format("status  {}", name(result.status));
    if (result.status == LevelSearchStatus::kOutOfBudget)
        text += fmt::format(": no nest costs less than {:.6g} s", result.bound);
    return text + fmt::format("\nspace   {} structures, {} candidates walked, {} of them feasible\n",
                              result.structures, result.candidates, result.feasible);
}

}  // namespace tessera::nests
