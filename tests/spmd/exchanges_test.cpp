// Boxes as plain operators around exchanges give what the graph gives, on random graphs. Exchanges are made
// here, between threads, by their meaning.
#include "spmd/exchanges.h"

#include <barrier>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "movement/difference.h"
#include "movement/random_graph.h"
#include "ops/exchange.h"
#include "spmd/interpret_ranks.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

/// The graph with exchanges as composites, which the interpreter hands over.
Graph with_composites(Graph graph) {
    for (Block& block : graph.blocks)
        for (Node& node : block.nodes)
            if (ops::is_exchange(*node.definition()))
                node.op = Composite{.kind = "exchange", .attributes = {}};
    return graph;
}

TEST(Exchanges, GiveWhatTheGraphGives) {
    std::map<std::string, int> kinds;
    int carried = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const testing::RandomGraph random = testing::random_graph(seed, 4);
        const auto ranks = 2 + static_cast<int64_t>(seed % 3);
        const Cluster cluster{.name = "test",
                              .levels = {"rank"},
                              .placement = {{{ranks, 1e-7, 1e-7, false}}},
                              .flops_per_second = 1e3,
                              .bytes_per_second = 1e3,
                              .memory = {}};
        ModelOptions options{.held = {}, .cut = facts::Cut::kEvenly};
        options.is_for_execution = true;
        const auto some = [seed](const Node& node, const std::vector<distribution::Form>& forms) {
            size_t hash = std::hash<std::string>()(node.name) + seed;
            bool is_whole = true;
            for (const distribution::Form& form : forms) {
                hash = hash * 31 + std::hash<std::string>()(distribution::text(form));
                is_whole = is_whole && distribution::text(form) == "[B]";
            }
            return is_whole || hash % 3 != 0;
        };
        const ModelDistribution plan = ModelSearch(random.graph, cluster, options).best({}, some);
        std::vector<LocalGraph> locals;
        for (int64_t rank = 0; rank < ranks; ++rank) {
            const int64_t device[] = {rank};
            locals.push_back(shard(random.graph, plan, device));
            for (const Block& block : locals.back().graph.blocks)
                for (const Node& node : block.nodes)
                    if (const auto* box = std::get_if<Composite>(&node.op)) ++kinds[box->kind];
            locals.back().graph = with_exchanges(locals.back().graph, rank, ranks);
            verify(locals.back().graph, "local");
            for (const Block& block : locals.back().graph.blocks)
                for (const Node& node : block.nodes) carried += node.definition()->name == "carry";
        }
        const GraphCall call = random.call(1 + static_cast<int64_t>(seed % 7));
        const GraphResult expected = interpret_graph(random.graph, call);

        std::barrier meeting(static_cast<std::ptrdiff_t>(ranks));
        std::vector<TensorData> given(static_cast<size_t>(ranks));
        std::vector<GraphResult> got(static_cast<size_t>(ranks));
        std::vector<std::thread> threads;
        for (int64_t rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                const int64_t device[] = {rank};
                GraphCall own =
                    local_call(random.graph, plan, locals[static_cast<size_t>(rank)], call, device);
                own.composite = [&](const Node&, const std::vector<TensorData>& operands) {
                    given[static_cast<size_t>(rank)] = operands.front();
                    meeting.arrive_and_wait();
                    TensorData all{operands.front().shape, {}};
                    all.shape.insert(all.shape.begin(), ranks);
                    for (const TensorData& part : given)
                        all.values.insert(all.values.end(), part.values.begin(), part.values.end());
                    meeting.arrive_and_wait();
                    return std::vector{all};
                };
                got[static_cast<size_t>(rank)] =
                    interpret_graph(with_composites(locals[static_cast<size_t>(rank)].graph), own);
            });
        for (std::thread& thread : threads) thread.join();
        for (const GraphResult& result : got) {
            const testing::Difference difference =
                testing::difference({result.outputs, {}}, {expected.outputs, {}});
            EXPECT_LE(difference.relative, testing::kTolerance) << difference.where;
        }
    }
    for (const char* kind : {"all_gather", "all_reduce", "slice"}) EXPECT_GT(kinds[kind], 5) << kind;
    EXPECT_GT(carried, 5);
}

TEST(Exchanges, RefuseRaggedParts) {
    Graph local = parse_graph(R"(graph "ragged"
symbol T in 1..8
input x: f32[T, 2]
value y: f32[T, 3]

block only
  node y(x) -> y
    composite all_gather: from = "[S(1)]", level = 0, to = "[B]", value = "y"

output y
)",
                              "ragged.ir");
    try {
        (void)with_exchanges(local, 0, 2);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("parts of different sizes"));
    }
}

}  // namespace
}  // namespace tessera::spmd
