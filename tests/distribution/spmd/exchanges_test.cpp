// Boxes as plain operators around exchanges give what the graph gives, on random graphs. Exchanges are made
// here, between threads, by their meaning.
#include "distribution/spmd/exchanges.h"

#include <barrier>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/spmd/interpret_ranks.h"
#include "distribution/spmd/some_choices.h"
#include "ir/facts/share.h"
#include "ir/ops/exchange.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/random_graph.h"

namespace tessera::spmd {
namespace {

/// The first axis of which one has less than the other.
int64_t axis_between(const std::vector<Dim>& some, const std::vector<Dim>& other) {
    size_t axis = 0;
    while (axis + 1 < some.size() && some[axis] == other[axis]) ++axis;
    return static_cast<int64_t>(axis);
}

/// The graph with exchanges as composites, which the interpreter hands over.
Graph with_composites(Graph graph) {
    for (Block& block : graph.blocks)
        for (Node& node : block.nodes) {
            const auto call = ops::exchange_call(*node.definition());
            if (!call) continue;
            Composite exchange{.kind = "exchange", .attributes = {}};
            exchange.attributes["kind"] = static_cast<int64_t>(call->kind);
            std::vector<Dim> result = graph[node.results.front()].type.shape;
            if (call->kind != ops::ExchangeCall::Kind::kPlace) result.erase(result.begin());
            exchange.attributes["axis"] = axis_between(graph[node.operands.front()].type.shape, result);
            node.op = std::move(exchange);
        }
    return graph;
}

/// The data of a rank behind an exchange, by its meaning. @param given what each rank had before it
TensorData exchanged(const Composite& exchange, const std::vector<TensorData>& given, int64_t rank) {
    using Kind = ops::ExchangeCall::Kind;
    const auto kind = static_cast<Kind>(std::get<int64_t>(exchange.attributes.at("kind")));
    const auto axis = static_cast<size_t>(std::get<int64_t>(exchange.attributes.at("axis")));
    TensorData made{given.front().shape, {}};
    if (kind == Kind::kPlace) {
        size_t outer = 1;
        for (size_t a = 0; a < axis; ++a) outer *= static_cast<size_t>(made.shape[a]);
        made.shape[axis] = 0;
        for (const TensorData& part : given) made.shape[axis] += part.shape[axis];
        for (size_t row = 0; row < outer; ++row)
            for (const TensorData& part : given) {
                const size_t size = part.values.size() / outer;
                const auto begin = part.values.begin() + static_cast<std::ptrdiff_t>(row * size);
                made.values.insert(made.values.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
            }
        return made;
    }
    const auto ranks = static_cast<int64_t>(given.size());
    for (const TensorData& whole : given) {
        std::vector<facts::Range> ranges;
        for (const int64_t extent : whole.shape) ranges.push_back({0, extent});
        if (kind == Kind::kTranspose) ranges[axis] = facts::part_of(ranges[axis], ranks, rank);
        const TensorData part = part_of_data(whole, ranges);
        made.shape = part.shape;
        made.values.insert(made.values.end(), part.values.begin(), part.values.end());
    }
    made.shape.insert(made.shape.begin(), ranks);
    return made;
}

struct Seen {
    std::map<std::string, int> kinds;  ///< of boxes
    std::map<ops::ExchangeCall::Kind, int> exchanges;
    int carried = 0;
};

/// Programs of all ranks, the exchanges made between threads.
void expect_programs_agree(uint64_t seed, facts::Cut cut, Seen& seen) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const testing::RandomGraph random = testing::random_graph(seed, 4);
    const auto ranks = 2 + static_cast<int64_t>(seed % 3);
    const Cluster cluster{.name = "test",
                          .levels = {"rank"},
                          .placement = {{{ranks, 1e-7, 1e-7, false}}},
                          .flops_per_second = 1e3,
                          .bytes_per_second = 1e3,
                          .memory = {}};
    ModelOptions options{.held = {}, .cut = cut};
    options.is_for_execution = true;
    const ModelDistribution plan =
        ModelSearch(random.graph, cluster, options).best({}, testing::some_choices(seed));
    std::vector<LocalGraph> locals;
    for (int64_t rank = 0; rank < ranks; ++rank) {
        const int64_t device[] = {rank};
        locals.push_back(shard(random.graph, plan, device));
        for (const Block& block : locals.back().graph.blocks)
            for (const Node& node : block.nodes)
                if (const auto* box = std::get_if<Composite>(&node.op)) ++seen.kinds[box->kind];
        locals.back().graph = with_exchanges(locals.back().graph, rank, ranks);
        verify(locals.back().graph, "local");
        for (const Block& block : locals.back().graph.blocks)
            for (const Node& node : block.nodes) {
                seen.carried += node.definition()->name == "carry";
                if (const auto call = ops::exchange_call(*node.definition())) ++seen.exchanges[call->kind];
            }
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
            const LocalGraph& local = locals[static_cast<size_t>(rank)];
            GraphCall own = local_call(random.graph, plan, local, call, device);
            own.composite = [&](const Node& node, const std::vector<TensorData>& operands) {
                given[static_cast<size_t>(rank)] = operands.front();
                meeting.arrive_and_wait();
                TensorData all = exchanged(std::get<Composite>(node.op), given, rank);
                meeting.arrive_and_wait();
                return std::vector{all};
            };
            got[static_cast<size_t>(rank)] = interpret_graph(with_composites(local.graph), own);
        });
    for (std::thread& thread : threads) thread.join();
    for (const GraphResult& result : got) {
        const testing::Difference difference =
            testing::difference({result.outputs, {}}, {expected.outputs, {}});
        EXPECT_LE(difference.relative, testing::kTolerance) << difference.where;
    }
}

TEST(Exchanges, GiveWhatTheGraphGives) {
    Seen seen;
    for (uint64_t seed = 0; seed < 250; ++seed) expect_programs_agree(seed, facts::Cut::kEvenly, seen);
    for (const char* kind : {"all_gather", "all_reduce", "slice"}) EXPECT_GT(seen.kinds[kind], 5) << kind;
    EXPECT_GT(seen.carried, 5);
}

TEST(Exchanges, OfRaggedPartsGiveWhatTheGraphGives) {
    using Kind = ops::ExchangeCall::Kind;
    Seen seen;
    for (uint64_t seed = 0; seed < 250; ++seed) expect_programs_agree(seed, facts::Cut::kRagged, seen);
    for (const char* kind : {"all_gather", "all_reduce", "slice"}) EXPECT_GT(seen.kinds[kind], 5) << kind;
    for (const auto& [kind, count] : seen.exchanges) EXPECT_GT(count, 5) << static_cast<int>(kind);
    EXPECT_GT(seen.exchanges[Kind::kPlace], 50);
}

/// The graph of a box between a value x of one shape and y of another.
Graph with_box(const std::string& x, const std::string& y, const std::string& box) {
    return parse_graph(fmt::format(R"(graph "one"
symbol T in 1..8
input x: f32[T, {}]
value y: f32[T, {}]

block only
  node y(x) -> y
    composite {}, level = 0, value = "y"

output y
)",
                                   x, y, box),
                       "one.ir");
}

TEST(Exchanges, PutRaggedPartsAtTheirPlaces) {
    const Graph made = with_exchanges(
        with_box("256", "576", R"(all_gather: from = "[S(1:64)]", from_extent = 576, to = "[B]")"), 1, 2);
    EXPECT_THAT(print(made), ::testing::HasSubstr("op place_between_ranks_0_320_576("));
}

TEST(Exchanges, OfEvenPartsAreTheSameOnAllRanks) {
    const auto made = [](int64_t rank) {
        return print(with_exchanges(
            with_box("288", "576", R"(all_gather: from = "[S(1)]", from_extent = 576, to = "[B]")"), rank,
            2));
    };
    EXPECT_THAT(made(0), ::testing::HasSubstr("op place_between_ranks_0_288_576("));
    EXPECT_EQ(made(0), made(1));
}

TEST(Exchanges, ScatterSumsWithoutTheRest) {
    const std::string even = print(with_exchanges(
        with_box("64", "32", R"(reduce_scatter: from = "[P(sum)]", to = "[S(1)]", to_extent = 64)"), 1, 2));
    EXPECT_THAT(even, ::testing::HasSubstr("op transpose_between_ranks(r: 2, x0: T, x1: 32)"));
    EXPECT_THAT(even, ::testing::HasSubstr("op reduce_scatter(r*: 2, x0: T, x1: 32)"));
    const std::string ragged = print(with_exchanges(
        with_box("63", "31", R"(reduce_scatter: from = "[P(sum)]", to = "[S(1)]", to_extent = 63)"), 1, 2));
    EXPECT_THAT(ragged, ::testing::HasSubstr("op exchange_between_ranks(r: 1, x0: T, x1: 63)"));
    EXPECT_THAT(ragged, ::testing::HasSubstr("Z f32[r, x0, x1 + 32] of [2, T, 63]"));
}

}  // namespace
}  // namespace tessera::spmd
