// Random graphs, split over ranks, planned, compiled and run: threads that exchange by a real group give what
// the interpreter gives for the whole graph.
#include "codegen/cpp/exchanges.h"

#include <map>

#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "ops/exchange.h"
#include "planner/default_planner.h"
#include "runtime/rank_group.h"
#include "spmd/exchanges.h"
#include "spmd/interpret_ranks.h"

namespace tessera::codegen::cpp {
namespace {

constexpr uint64_t kSeeds = 48;

/// A random graph and its compiled ranks.
struct Ranks {
    testing::RandomGraph random;
    spmd::ModelDistribution distribution;
    std::vector<spmd::LocalGraph> locals;
    std::vector<size_t> compiled;  ///< their places in the unit
};

/// Programs of a distribution that splits much and is not the fastest one.
Ranks split(uint64_t seed, int64_t lanes) {
    Ranks ranks{.random = testing::random_graph(seed, lanes), .distribution = {}, .locals = {}, .compiled = {}};
    const auto count = 2 + static_cast<int64_t>(seed % 3);
    const spmd::Cluster cluster{.name = "test",
                                .levels = {"rank"},
                                .placement = {{{count, 1e-7, 1e-7, false}}},
                                .flops_per_second = 1e3,
                                .bytes_per_second = 1e3,
                                .memory = {}};
    spmd::ModelOptions options{.held = {}, .cut = facts::Cut::kRagged};
    options.is_for_execution = true;
    ranks.distribution = spmd::ModelSearch(ranks.random.graph, cluster, options).best();
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

TEST(Exchanges, OfThreadsGiveWhatTheGraphGives) {
    const int64_t lanes = testing::host_lanes().front();
    testing::CompiledPlans compiled(lanes);
    std::vector<Ranks> all;
    std::map<ops::ExchangeCall::Kind, int> kinds;
    int fused = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        Ranks ranks = split(seed, lanes);
        for (const spmd::LocalGraph& local : ranks.locals) {
            if (seed == 19) fmt::print("{}\n", print(local.graph));
            const plan::Plan plan =
                planner::default_plan(local.graph, testing::differential_options(seed, lanes));
            ranks.compiled.push_back(compiled.add(local.graph, plan, exchanges_of(local.graph)));
            for (const Block& block : local.graph.blocks)
                for (const Node& node : block.nodes)
                    if (const auto call = ops::exchange_call(*node.definition())) ++kinds[call->kind];
            for (const movement::Program& program : compiled.programs(ranks.compiled.back()))
                for (const auto& block : program.blocks)
                    for (const movement::Kernel& kernel : block.kernels)
                        fused += exchange_of(kernel, exchanges_of(local.graph)) &&
                                 kernel.comment.find(';') != std::string::npos;
        }
        all.push_back(std::move(ranks));
    }
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kGather], 5);
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kTranspose], 5);
    EXPECT_GT(kinds[ops::ExchangeCall::Kind::kPlace], 5);
    EXPECT_GT(fused, 5) << "no exchange shares a kernel with what makes the parts";
    compiled.compile();
    for (const Ranks& ranks : all)
        for (const int64_t tokens : testing::kTokens) {
            const GraphCall call = ranks.random.call(tokens);
            const GraphResult expected = interpret_graph(ranks.random.graph, call);
            std::vector<GraphResult> results(ranks.locals.size());
            runtime::on_local_ranks(std::ssize(ranks.locals), [&](runtime::Communicator& communicator) {
                const auto at = static_cast<size_t>(communicator.rank());
                const int64_t device[] = {communicator.rank()};
                const GraphCall own = spmd::local_call(ranks.random.graph, ranks.distribution, ranks.locals[at],
                                                       call, device);
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

}  // namespace
}  // namespace tessera::codegen::cpp
