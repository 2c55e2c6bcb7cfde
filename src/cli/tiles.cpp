#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "search/tiles/evaluate.h"
#include "search/tiles/read_problem.h"
#include "search/tiles/solve.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TilesArguments {
    std::string file;
    std::optional<int64_t> nodes;
    bool as_json = false;
};

Json tiles_json(const tiles::Problem& problem, const tiles::Solution& solution) {
    Json json = {{"status", name(solution.status)}};
    if (solution.has_values()) json["cost"] = solution.cost;
    if (solution.status != tiles::Status::kInfeasible) json["bound"] = solution.bound;
    if (solution.has_values()) json["gap"] = solution.gap();
    json["nodes"] = solution.nodes;
    if (solution.has_values()) {
        json["values"] = Json::object();
        for (size_t v = 0; v < problem.variables.size(); ++v)
            json["values"][problem.variables[v].name] = solution.values[v];
    }
    return json;
}

size_t width_of(const std::vector<std::string>& names) {
    size_t width = 9;  // of "status", "nodes" and their like
    for (const std::string& each : names) width = std::max(width, each.size());
    return width;
}

void print_values(const tiles::Problem& problem, const tiles::Solution& solution, size_t width) {
    fmt::print("\nvalues\n");
    for (size_t v = 0; v < problem.variables.size(); ++v)
        fmt::print("  {:<{}}  {}\n", problem.variables[v].name, width, solution.values[v]);
}

/// The sums from the largest on: the first one is what a faster schedule would have to lower.
void print_objective(const tiles::Problem& problem, const tiles::Evaluation& evaluation, size_t width) {
    std::vector<size_t> order;
    for (size_t s = 0; s < problem.objective.size(); ++s) order.push_back(s);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return evaluation.objective[a] > evaluation.objective[b]; });
    fmt::print("\nobjective, the largest counts\n");
    for (const size_t s : order) {
        const double value = evaluation.objective[s];
        const bool is_largest = value >= evaluation.cost * (1 - tiles::kTolerance);
        fmt::print("  {:<{}}  {}{}\n", printable(problem.objective[s].name), width, value,
                   is_largest ? "  limits" : fmt::format("  {:.3g} % of it", 100 * value / evaluation.cost));
    }
}

/// The constraints from the tightest on.
void print_constraints(const tiles::Problem& problem, const tiles::Evaluation& evaluation, size_t width) {
    if (problem.constraints.empty()) return;
    const auto slack = [&](size_t c) {
        const double most = problem.constraints[c].most;
        return most > 0 ? std::max(0.0, (most - evaluation.constraints[c]) / most) : 0;
    };
    std::vector<size_t> order;
    for (size_t c = 0; c < problem.constraints.size(); ++c) order.push_back(c);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return slack(a) < slack(b); });
    fmt::print("\nconstraints, the tightest first\n");
    for (const size_t c : order)
        fmt::print("  {:<{}}  {} of {}, {:.3g} % free\n", printable(problem.constraints[c].sum.name), width,
                   evaluation.constraints[c], problem.constraints[c].most, 100 * slack(c));
}

/// Constraints that no assignment keeps, whatever the others say: the first place to look.
void print_refusals(const tiles::Problem& problem) {
    // The question about one constraint is far smaller than the whole, or stays without an answer.
    constexpr int64_t kNodes = 1000;
    tiles::Problem alone{.name = problem.name,
                         .variables = problem.variables,
                         .constraints = {},
                         .multiples = problem.multiples,
                         .objective = {{"nothing", {}}}};
    const auto is_impossible = [&] {
        return tiles::solve(alone, {.nodes = kNodes}).status == tiles::Status::kInfeasible;
    };
    if (is_impossible()) {
        fmt::print("\nthe multiples cannot hold together\n");
        return;
    }
    std::string names;
    for (const tiles::Constraint& constraint : problem.constraints) {
        alone.constraints = {constraint};
        if (is_impossible()) names += "\n  " + printable(constraint.sum.name);
    }
    if (names.empty())
        fmt::print("\neach constraint can hold by itself, but not all together\n");
    else
        fmt::print("\nconstraints that cannot hold{}{}\n",
                   problem.multiples.empty() ? "" : " with the multiples", names);
}

void print_tiles_text(const tiles::Problem& problem, const tiles::Solution& solution,
                      const tiles::Evaluation& evaluation) {
    std::vector<std::string> names;
    for (const tiles::Variable& variable : problem.variables) names.push_back(variable.name);
    for (const tiles::Constraint& constraint : problem.constraints)
        names.push_back(printable(constraint.sum.name));
    for (const tiles::Sum& sum : problem.objective) names.push_back(printable(sum.name));
    const size_t width = width_of(names);
    fmt::print("{:<{}}  {}\n", "status", width + 2, name(solution.status));
    if (solution.has_values()) fmt::print("{:<{}}  {}\n", "cost", width + 2, solution.cost);
    if (solution.status != tiles::Status::kInfeasible)
        fmt::print("{:<{}}  {}\n", "bound", width + 2, solution.bound);
    if (solution.has_values()) fmt::print("{:<{}}  {:.3g} %\n", "gap", width + 2, 100 * solution.gap());
    fmt::print("{:<{}}  {}\n", "nodes", width + 2, solution.nodes);
    if (solution.status == tiles::Status::kInfeasible) print_refusals(problem);
    if (!solution.has_values()) return;
    print_objective(problem, evaluation, width);
    print_constraints(problem, evaluation, width);
    print_values(problem, solution, width);
}

int run_tiles(const TilesArguments& options) {
    const tiles::Problem problem = tiles::read_problem(MappedFile::open(options.file).text(), options.file);
    const tiles::Solution solution = tiles::solve(problem, {.nodes = options.nodes});
    tiles::Evaluation evaluation;
    if (solution.has_values()) {
        evaluation = tiles::evaluate(problem, solution.values);
        TESSERA_CHECK(evaluation.is_feasible(), "{}", evaluation.broken.front());
    }
    if (options.as_json)
        fmt::print("{}\n", tiles_json(problem, solution).dump(1));
    else
        print_tiles_text(problem, solution, evaluation);
    return 0;
}

Job declare_tiles(CLI::App& app, const Environment&) {
    const auto options = std::make_shared<TilesArguments>();
    app.add_option("FILE", options->file, "an instance as JSON: variables, constraints, objective")
        ->required()
        ->check(not_empty());
    app.add_option("--nodes", options->nodes,
                   "sets of assignments to look at, at most; the same number gives the same answer")
        ->check(count_or_zero())
        ->type_name("N");
    app.add_flag("--json", options->as_json, "the answer as JSON");
    return [options] { return run_tiles(*options); };
}

}  // namespace

Verb tiles_verb() {
    return {.name = "tiles",
            .help = "choose tile sizes and buffer placement of one loop structure, exactly",
            .examples = {"tessera tiles gemm.json", "tessera tiles gemm.json --json",
                         "tessera tiles gemm.json --nodes 1000"},
            .declare = declare_tiles};
}

}  // namespace tessera::cli
