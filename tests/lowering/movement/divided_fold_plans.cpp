#include "lowering/movement/divided_fold_plans.h"

#include <random>

#include <fmt/format.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/divided_attention.h"
#include "lowering/movement/plan_variation.h"
#include "lowering/plan/parts.h"

namespace tessera::testing {
namespace {

/// Every intermediate value in the arena but `tiles`; parts where a kernel leaves them.
plan::Plan plan_of(const Graph& graph, const std::vector<std::string>& nests,
                   const std::vector<std::string>& tiles, const std::vector<std::string>& parted,
                   int64_t workers) {
    plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = {}, .kernels = {}};
    for (const DimSymbol& symbol : graph.symbols) s.bounds[symbol.name] = {symbol.low, symbol.high};
    for (const Value& value : graph.values) {
        if (value.kind == ValueKind::kIntermediate) s.tensors[value.name] = {};
    }
    for (const ValueId output : graph.outputs) s.tensors.erase(graph[output].name);
    for (const std::string& tile : tiles) s.tensors.at(tile).place = plan::Place::kTile;
    for (const std::string& value : parted) s.tensors[plan::parts_of(value)].each_worker = true;
    for (const std::string& nest : nests)
        s.kernels.push_back(
            {"main", plan::parse_nest(nest, "nest", kernels::micro_kernels()), !s.kernels.empty()});
    plan::Plan plan{.graph = graph.name, .machine = "test", .stored = {}, .specialisations = {s}};
    plan.workers = workers;
    return placed_and_verified(graph, std::move(plan));
}

struct FoldCase {
    const char* name;
    const char* definition;
    std::vector<std::string> leaves;  ///< ways to fold by tiles
};

const std::vector<FoldCase>& fold_cases() {
    static const std::vector<FoldCase> cases = {
        {"Sum",
         "out Y f32[t, n] = sum(X * W) * 0.25 + b",
         {"y[loops]", "y[loops x=k lanes=LANES]", "y[contract m=t n=n k=k lanes=1 rows=2]",
          "y[dot m=t n=n k=k lanes=LANES columns=2]"}},
        {"Max", "out Y f32[t, n] = max(X * W) + b", {"y[loops]", "y[loops x=k lanes=LANES]"}},
        {"Min", "out Y f32[t, n] = min(X - W) + b", {"y[loops]", "y[loops x=n lanes=1]"}},
        {"Prod",
         "out Y f32[t, n] = prod(X * 0.1 + W * 0.1 + 1) - b",
         {"y[loops]", "y[loops x=k lanes=LANES]"}},
        {"Rounded", "out Y f16[t, n] = sum(X * W) + b", {"y[loops]", "y[loops x=k lanes=LANES]"}},
        {"Masked",
         "out Y f32[t, n] = sum(X * W) - b\n    where k < 7 * t",
         {"y[loops]", "y[loops x=k lanes=LANES]"}}};
    return cases;
}

/// Y[t, n] folded over k; 3 rows, 10 columns, 37 steps.
Graph fold_graph(const FoldCase& c) {
    const std::string type = std::string(c.definition).find("f16") == std::string::npos ? "f32" : "f16";
    const Graph graph = parse_graph(fmt::format(R"(graph "fold"
symbol T in 1..3
input x: f32[T, 37]
constant w: f32[10, 37] from "w"
constant bias: f32[10] from "bias"
value y: {}[T, 10] rounded
value z: f32[T, 10]

block main
  node y(x, w, bias) -> y
    op fold(t: T, n: 10, k*: 37)
    dim T in 1..3
    in X f32[t, k]
    in W f32[n, k]
    in b f32[n]
    {}
  node z(y) -> z
    op copy(t: T, n: 10)
    dim T in 1..3
    in Y {}[t, n]
    out Z f32[t, n] = Y

output z
)",
                                                type, c.definition, type),
                                    "fold");
    verify(graph, "fold");
    return graph;
}

std::vector<double> drawn(size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
    return values;
}

}  // namespace

std::vector<DividedFold> divided_attentions(int64_t lanes, int64_t heads,
                                            const std::vector<int64_t>& workers) {
    const Graph graph = divided_attention_graph(heads);
    const std::string combine = fmt::format("attend[combine x=d lanes={}]", lanes),
                      last = fmt::format("y[loops x=d lanes={}]", lanes),
                      stream = fmt::format("attend[stream d=d lanes={} groups=1]", lanes),
                      rows = fmt::format("attend[stream d=d m=i rows=2 lanes={} groups=2]", lanes),
                      plain = "scores[loops]", dot = fmt::format("scores[dot n=s k=e lanes={}]", lanes),
                      many = fmt::format("scores[dot m=i n=s k=e lanes={} rows=2]", lanes);
    const std::vector<std::vector<std::string>> nests = {
        {"b:1 i:1 h:1 { g[loops]; s:16@worker { " + plain + "; " + stream + " } }",
         "h:1@worker { b:1 i:1 { " + combine + "; " + last + " } }"},
        {"b:1 i:1 h:1 { g[loops]; s:8@worker { " + dot + "; " + stream + " } }",
         "h:1@worker { " + combine + "; " + last + " }"},
        {"s:16@worker b:1 h:1 i:1 { g[loops]; " + plain + "; " + stream + " }",
         "d:4@worker { attend[combine]; y[loops] }"},
        {"b:1 i:3 h:1 { g[loops]; s:16@worker { " + many + "; " + rows + " } }",
         "d:4@worker { " + combine + "; " + last + " }"}};

    std::vector<DividedFold> all;
    for (const auto& nest : nests) {
        for (const int64_t count : workers)
            all.push_back({graph, placed_and_verified(graph, divided_attention_plan(graph, nest, count))});
    }
    return all;
}

std::vector<DividedFold> divided_folds(int64_t lanes, const std::vector<int64_t>& workers) {
    std::vector<DividedFold> all;
    for (const FoldCase& c : fold_cases()) {
        const Graph graph = fold_graph(c);
        for (std::string leaf : c.leaves) {
            if (const size_t at = leaf.find("LANES"); at != std::string::npos)
                leaf.replace(at, 5, std::to_string(lanes));
            for (const int64_t count : workers) {
                for (const std::string& combine :
                     {std::string("y[combine]; z[loops]"), std::string("n:2@worker { y[combine]; z[loops] }"),
                      fmt::format("t:1 {{ y[combine x=n lanes={}]; z[loops] }}", lanes)}) {
                    const bool is_by_all = combine[1] != ':' || combine[0] == 't';
                    const std::string fold = fmt::format("k:{}@worker {{ {} }}", 2 * lanes, leaf);
                    plan::Plan plan = plan_of(graph, {fold, combine}, {"y"}, {"y"}, 1);
                    plan.workers = count;
                    plan.specialisations[0].kernels.back().alone = is_by_all;
                    all.push_back({graph, placed_and_verified(graph, plan)});
                }
            }
        }
    }
    return all;
}

GraphCall divided_fold_call() {
    GraphCall call;
    call.symbols = {{"T", 3}};
    call.inputs["x"] = {{3, 37}, drawn(3 * 37, 1)};
    call.constant = [](const Value& value, int64_t) {
        return value.name == "w" ? TensorData{{10, 37}, drawn(10 * 37, 2)} : TensorData{{10}, drawn(10, 3)};
    };
    return call;
}

}  // namespace tessera::testing
