// Random graphs, split over ranks, planned, compiled and run: threads that exchange by a real group give what
// the interpreter gives for the whole graph.
#include <map>

#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "backend/exchanges.h"
#include "distribution/spmd/exchanges.h"
#include "distribution/spmd/interpret_ranks.h"
#include "distribution/spmd/some_choices.h"
#include "ir/ops/exchange.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/nest.h"
#include "run/runtime/rank_group.h"
#include "search/planner/default_planner.h"

namespace tessera::backend {
namespace {

constexpr uint64_t kSeeds = 15;

/// A random graph and its compiled ranks.
struct Ranks {
    testing::RandomGraph random;
    spmd::ModelDistribution distribution;
    std::vector<spmd::LocalGraph> locals;
    std::vector<size_t> compiled;  ///< their places in the unit
};

/// Programs of a distribution that splits much and is not the fastest one.
Ranks split(uint64_t seed, int64_t lanes) {
    Ranks ranks{
        .random = testing::random_graph(seed, lanes), .distribution = {}, .locals = {}, .compiled = {}};
    const auto count = 2 + static_cast<int64_t>(seed % 3);
    const spmd::Cluster cluster{.name = "test",
                                .levels = {"rank"},
                                .placement = {{{count, 1e-7, 1e-7, false}}},
                                .flops_per_second = 1e3,
                                .bytes_per_second = 1e3,
                                .memory = {}};
    spmd::ModelOptions options{.held = {}, .cut = facts::Cut::kRagged};
    options.is_for_execution = true;
    ranks.distribution =
        spmd::ModelSearch(ranks.random.graph, cluster, options).best({}, testing::some_choices(seed));
    for (int64_t rank = 0; rank < count; ++rank) {
        const int64_t device[] = {rank};
        spmd::LocalGraph local = spmd::shard(ranks.random.graph, ranks.distribution, device);
        local.graph = spmd::with_exchanges(local.graph, rank, count);
        for (Block& block : local.graph.blocks)
            for (Node& node : block.nodes) node.name += fmt::format("_{}_{}", seed, rank);
        verify(local.graph, "local");
        ranks.locals.push_back(std::move(local));
    }
    return ranks;
}

class RankGraphs : public ::testing::TestWithParam<std::string> {
protected:
    static const Backend& backend() { return *find_backend(GetParam()); }
};

TEST_P(RankGraphs, OfThreadsGiveWhatTheGraphGives) {
    const int64_t lanes = testing::host_lanes().front();
    testing::CompiledPlans compiled(lanes, backend());
    std::vector<Ranks> all;
    std::map<ops::ExchangeCall::Kind, int> kinds;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        Ranks ranks = split(seed, lanes);
        for (const spmd::LocalGraph& local : ranks.locals) {
            const plan::Plan plan =
                planner::default_plan(local.graph, testing::differential_options(seed, lanes));
            ranks.compiled.push_back(compiled.add(local.graph, plan, exchanges_of(local.graph)));
            for (const Block& block : local.graph.blocks)
                for (const Node& node : block.nodes)
                    if (const auto call = ops::exchange_call(*node.definition())) ++kinds[call->kind];
        }
        all.push_back(std::move(ranks));
    }
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kGather], 5);
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kTranspose], 2);
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kPlace], 5);
    compiled.compile();
    for (const Ranks& ranks : all)
        for (const int64_t tokens : testing::kTokens) {
            const GraphCall call = ranks.random.call(tokens);
            const GraphResult expected = interpret_graph(ranks.random.graph, call);
            std::vector<GraphResult> results(ranks.locals.size());
            runtime::on_local_ranks(std::ssize(ranks.locals), [&](runtime::Communicator& communicator) {
                const auto at = static_cast<size_t>(communicator.rank());
                const int64_t device[] = {communicator.rank()};
                const GraphCall own =
                    spmd::local_call(ranks.random.graph, ranks.distribution, ranks.locals[at], call, device);
                results[at] = compiled.run(ranks.compiled[at], own, communicator);
            });
            for (const GraphResult& result : results) {
                const testing::Difference worst =
                    testing::difference({result.outputs, {}}, {expected.outputs, {}});
                ASSERT_LE(worst.relative, testing::kToleranceOfPlans)
                    << print(ranks.random.graph) << print(ranks.locals.front().graph) << worst.where;
            }
        }
}

/// Each of two ranks multiplies by its 16 columns.
Graph product_of_rank(int rank, const std::string& exchange, const std::string& result) {
    return parse_graph(fmt::format(R"(graph "parts"
symbol T in 1..23
input x: f32[T, 8]
input w: f32[16, 8]
value y: f32[T, 16]
value z: {2}

block only
  node y(x, w) -> y
    op matmul(t: T, n: 16, k*: 8)
    dim T in 1..23
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node z_{0}(y) -> z
    {1}

output z
)",
                                   rank, exchange, result),
                       "parts.ir");
}

/// The parts of both ranks, one behind the other along n, and as axis 0.
const std::pair<std::string, std::string> kExchanges[] = {
    {"op place_between_ranks_0_16_32(t: T, n: 16)\n    dim T in 1..23\n    in X f32[t, n] of [T, 16]\n"
     "    out Z f32[t, n] of [T, 32] = X * 1",
     "f32[T, 32]"},
    {"op exchange_between_ranks(r: 1, t: T, n: 16)\n    dim T in 1..23\n    in X f32[t, n] of [T, 16]\n"
     "    out Z f32[r, t, n] of [2, T, 16] = X * 1",
     "f32[2, T, 16]"}};

TEST_P(RankGraphs, ShareAKernelWithWhatMakesTheParts) {
    constexpr int64_t kRows = 7;
    TensorData x{{kRows, 8}, {}};
    for (int i = 0; i < kRows * 8; ++i) x.values.push_back(i % 5 - 2);
    const auto w = [](int64_t rank) {
        TensorData data{{16, 8}, {}};
        for (int i = 0; i < 16 * 8; ++i) data.values.push_back((i + 3 * rank) % 7 - 3);
        return data;
    };
    for (const auto& [exchange, result] : kExchanges) {
        testing::CompiledPlans compiled(4, backend());
        for (int rank = 0; rank < 2; ++rank) {
            const Graph graph = product_of_rank(rank, exchange, result);
            planner::PlannerOptions options = testing::differential_options(1, 4);
            options.stated = {{"test", "whole",
                               plan::parse_open_nest(fmt::format("t:3 {{ y; z_{} }}", rank), "test",
                                                     kernels::micro_kernels())}};
            compiled.add(graph, planner::default_plan(graph, options), exchanges_of(graph));
        }
        compiled.compile();
        std::vector<TensorData> results(2);
        runtime::on_local_ranks(2, [&](runtime::Communicator& ranks) {
            const auto rank = static_cast<size_t>(ranks.rank());
            GraphCall call;
            call.symbols["T"] = kRows;
            call.inputs = {{"x", x}, {"w", w(ranks.rank())}};
            results[rank] = compiled.run(rank, call, ranks).outputs.front();
        });
        EXPECT_EQ(results[0].values, results[1].values);
        const bool is_placed = results[0].shape.size() == 2;
        for (int64_t t = 0; t < kRows; ++t)
            for (int64_t n = 0; n < 32; ++n) {
                double sum = 0;
                for (int64_t k = 0; k < 8; ++k)
                    sum += x.values[static_cast<size_t>(t * 8 + k)] *
                           w(n / 16).values[static_cast<size_t>(n % 16 * 8 + k)];
                const int64_t at = is_placed ? t * 32 + n : (n / 16 * kRows + t) * 16 + n % 16;
                EXPECT_EQ(results[0].values[static_cast<size_t>(at)], sum) << exchange << t << " " << n;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(Of, RankGraphs, ::testing::ValuesIn(testing::backend_names()),
                         testing::name_of_test);

}  // namespace
}  // namespace tessera::backend
