// The programs of all devices, interpreted together, give what the graph gives: random graphs under random
// splits, even and ragged, on one level and on two.
#include "distribution/spmd/shard.h"

#include <gtest/gtest.h>

#include "distribution/form.h"
#include "distribution/spmd/interpret_ranks.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/random_graph.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

using distribution::Form;

/// Devices that are slow beside their links, so that plans split a lot.
Cluster slow_devices(const std::vector<int64_t>& counts) {
    Cluster cluster{.name = "test",
                    .levels = {},
                    .placement = {},
                    .flops_per_second = 1e3,
                    .bytes_per_second = 1e3,
                    .memory = {}};
    for (const int64_t count : counts) {
        cluster.levels.push_back("device");
        cluster.placement.levels.push_back({count, 1e-7, 1e-7});
    }
    return cluster;
}

/// Some of what a node may do, drawn from a seed: always that all devices do the same.
AllowedForms some_forms(uint64_t seed) {
    return [seed](const Node& node, const std::vector<Form>& forms) {
        bool is_whole = true;
        uint64_t hash = seed * 0x9E3779B97F4A7C15U;
        for (const char c : node.name) hash = hash * 131 + static_cast<unsigned char>(c);
        for (const Form& form : forms)
            for (const char c : distribution::text(form)) {
                hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
                is_whole = is_whole && c != 'S' && c != 'P';
            }
        return is_whole || (hash >> 32) % 3 != 0;
    };
}

struct Counts {
    int boxes = 0;
    int split = 0;
    std::map<std::string, int> kinds;
};

void expect_same(uint64_t seed, const std::vector<int64_t>& counts, facts::Cut cut, Counts& total) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const testing::RandomGraph random = testing::random_graph(seed, 4);
    const Cluster cluster = slow_devices(counts);
    ModelOptions options{.held = {}, .cut = cut};
    // Partial results of softmax_sum are boxed together, which interpret_ranks does not do.
    options.is_for_execution = true;
    const ModelDistribution plan = ModelSearch(random.graph, cluster, options).best({}, some_forms(seed));
    ASSERT_TRUE(plan.found.has_plan());
    const auto devices = all_devices(cluster.placement);
    std::vector<LocalGraph> locals;
    for (const auto& device : devices) {
        locals.push_back(shard(random.graph, plan, device));
        verify(locals.back().graph, "local");
    }
    for (const Block& block : locals.front().graph.blocks)
        for (const Node& node : block.nodes)
            if (const auto* composite = std::get_if<Composite>(&node.op)) {
                ++total.boxes;
                ++total.kinds[composite->kind];
            }
    for (const distribution::Choice& choice : plan.found.plan.operators)
        for (const distribution::LevelChoice& level : choice.levels)
            total.split += level.kind != distribution::LevelChoice::Kind::kBroadcast;
    const GraphCall call = random.call(1 + static_cast<int64_t>(seed % 9));
    const GraphResult expected = interpret_graph(random.graph, call);
    const std::vector<GraphResult> got = interpret_ranks(random.graph, plan, locals, call);
    for (size_t rank = 0; rank < got.size(); ++rank) {
        GraphResult own{expected.outputs, {}};
        for (const Block& block : random.graph.blocks)
            for (const StateUpdate& state : block.states) {
                const int value = plan.model.numbers.at({state.after.index, -1});
                const auto ranges = held_ranges(random.graph[state.after].type,
                                                plan.found.plan.values[static_cast<size_t>(value)].made,
                                                cluster.placement, devices[rank], call.symbols);
                const std::string& name = random.graph[state.before].name;
                for (const TensorData& whole : expected.states.at(name))
                    own.states[name].push_back(part_of_data(whole, ranges));
            }
        const testing::Difference difference = testing::difference(got[rank], own);
        EXPECT_LE(difference.relative, testing::kTolerance)
            << "device " << rank << ": " << difference.where << "\n"
            << print(locals[rank].graph);
    }
}

TEST(Shard, EvenSplitsGiveWhatTheGraphGives) {
    Counts total;
    for (uint64_t seed = 0; seed < 300; ++seed)
        expect_same(seed, {2 + static_cast<int64_t>(seed % 3)}, facts::Cut::kEvenly, total);
    EXPECT_GT(total.boxes, 200);
    EXPECT_GT(total.split, 200);
    for (const char* kind : {"all_gather", "all_reduce", "slice"}) EXPECT_GT(total.kinds[kind], 5) << kind;
}

TEST(Shard, RaggedSplitsGiveWhatTheGraphGives) {
    Counts total;
    for (uint64_t seed = 0; seed < 300; ++seed)
        expect_same(seed, {2 + static_cast<int64_t>(seed % 3)}, facts::Cut::kRagged, total);
    EXPECT_GT(total.boxes, 300);
    EXPECT_GT(total.split, 300);
}

TEST(Shard, TwoLevelsGiveWhatTheGraphGives) {
    Counts total;
    for (uint64_t seed = 0; seed < 250; ++seed) expect_same(seed, {2, 2}, facts::Cut::kEvenly, total);
    EXPECT_GT(total.boxes, 100);
}

TEST(Shard, TwoRaggedLevelsGiveWhatTheGraphGives) {
    Counts total;
    for (uint64_t seed = 0; seed < 250; ++seed)
        expect_same(seed, {2 + static_cast<int64_t>(seed % 2), 2}, facts::Cut::kRagged, total);
    EXPECT_GT(total.boxes, 300);
    EXPECT_GT(total.split, 300);
}

/// Heads as models have them: a product whose result is seen as heads, in groups that share a cache head.
TEST(Shard, HeadsAreCutBetweenHeads) {
    const Graph graph = parse_graph(R"(graph "heads"
symbol T in 1..8
point one weight 1: T = 1
input x: f32[T, 18]
constant q_weight: f32[36, 18] from "q"
value q: f32[T, 36]
value heads: f32[T, 9, 4]
value groups: f32[T, 3, 3, 4]
value y: f32[T, 3, 3]

block only
  node q(x, q_weight) -> q
    op matmul(t: T, n: 36, k*: 18)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node heads(q) -> heads
    op split_heads(t: T, h: 9, e: 4)
    dim T in 1..8
    in X f32[t, h * 4 + e] of [T, 36]
    out Y f32[t, h, e] = X * 2
  node groups(heads) -> groups
    op group(t: T, g: 3, r: 3, e: 4)
    dim T in 1..8
    in X f32[t, g * 3 + r, e] of [T, 9, 4]
    out Y f32[t, g, r, e] = X + 1
  node y(groups) -> y
    op total(t: T, g: 3, r: 3, e*: 4)
    dim T in 1..8
    in X f32[t, g, r, e]
    out Y f32[t, g, r] = sum(X)

output y
)",
                                    "heads.ir");
    verify(graph, "heads.ir");
    ModelOptions options{.held = {}, .cut = facts::Cut::kRagged};
    options.is_for_execution = true;
    const std::map<std::string, std::string> wanted = {
        {"q", "[S(1:12)]"}, {"heads", "[S(1:3)]"}, {"groups", "[S(1)]"}, {"y", "[S(1)]"}};
    const auto between_groups = [&](const Node& node, const std::vector<Form>& forms) {
        return distribution::text(forms.back()) == wanted.at(node.name);
    };
    const ModelDistribution plan = ModelSearch(graph, slow_devices({2}), options).best({}, between_groups);
    ASSERT_TRUE(plan.found.has_plan());
    std::map<std::string, std::string> forms;
    for (size_t v = 0; v < plan.model.problem.values.size(); ++v)
        forms[plan.model.problem.values[v].name] = distribution::text(plan.found.plan.values[v].made);
    // Two groups of three heads, and one.
    EXPECT_EQ(forms["q_weight"], "[S(0:12)]");
    for (const auto& [value, form] : wanted) EXPECT_EQ(forms[value], form) << value;
    int boxes = 0;  // the result alone is gathered
    for (const distribution::ValuePlan& value : plan.found.plan.values)
        boxes += static_cast<int>(value.boxes.size());
    EXPECT_EQ(boxes, 1);
    const int64_t first[] = {0}, second[] = {1};
    EXPECT_EQ(shard(graph, plan, first).constants.at("q_weight").ranges[0], (facts::Range{0, 24}));
    EXPECT_EQ(shard(graph, plan, second).constants.at("q_weight").ranges[0], (facts::Range{24, 36}));
}

}  // namespace
}  // namespace tessera::spmd
