// Models on clusters: repeated blocks, the form that they carry, memory, and the plan by hand.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distribution/report.h"
#include "distribution/spmd/model_picture.h"
#include "distribution/spmd/model_report.h"
#include "import/import_shapes.h"
#include "ir/ops/decompose.h"
#include "support/error.h"
#include "support/shared_data.h"

namespace tessera::spmd {
namespace {

using ::testing::HasSubstr;

/// A product before, three equal layers of two products, and one behind.
Graph layers(int64_t repeat) {
    return parse_graph(fmt::format(R"(graph "layers"
symbol T in 1..8
point one weight 1: T = 1
input x: f32[T, 16]
value h: f32[T, 16]
constant up: f32[64, 16] from "l.*.up" for 0..{0}
constant down: f32[16, 64] from "l.*.down" for 0..{0}
value u: f32[T, 64]
value d: f32[T, 16]
value y: f32[T, 16]
value z: f32[T, 16]

block first
  node h(x) -> h
    op twice(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 2

block layer repeat {1} carry h -> y
  node u(h, up) -> u
    op matmul(t: T, n: 64, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node d(u, down) -> d
    op matmul(t: T, n: 16, k*: 64)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node y(h, d) -> y
    op add(t: T, n: 16)
    dim T in 1..8
    in A f32[t, n], X f32[t, n]
    out Y f32[t, n] = A + X

block last
  node z(y) -> z
    op twice(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 2

output z
)",
                                   repeat - 1, repeat),
                       "layers.ir");
}

Cluster pair_of_devices() {
    return {.name = "pair",
            .levels = {"device"},
            .placement = {{{2, 1e-9, 1e-9, false}}},
            .flops_per_second = 1e9,
            .bytes_per_second = 1e9,
            .memory = {}};
}

ModelDistribution best(const Graph& graph, const Cluster& cluster) {
    verify(graph, "test");
    return ModelSearch(graph, cluster, {}).best();
}

double of_layer(const ModelDistribution& plan) {
    double seconds = 0;
    for (size_t o = 0; o < plan.model.nodes.size(); ++o)
        if (plan.model.nodes[o].first == 1) seconds += plan.found.plan.operators[o].seconds;
    return seconds;
}

TEST(Models, ARepeatedBlockStandsInTheProblemOnce) {
    const ModelDistribution three = best(layers(3), pair_of_devices());
    const ModelDistribution nine = best(layers(9), pair_of_devices());
    ASSERT_EQ(three.found.status, distribution::Status::kOptimal);
    EXPECT_EQ(three.model.problem.operators.size(), 5U);
    EXPECT_NEAR(of_layer(nine), 3 * of_layer(three), 1e-15);
    // Columns, then rows: the weights are split, and nothing is sent between the products.
    const auto form_of = [&](const char* name) {
        for (size_t v = 0; v < three.model.problem.values.size(); ++v)
            if (three.model.problem.values[v].name == name)
                return distribution::text(three.found.plan.values[v].made);
        return std::string();
    };
    EXPECT_EQ(form_of("up"), "[S(0)]");
    EXPECT_EQ(form_of("u"), "[S(1)]");
    EXPECT_EQ(form_of("down"), "[S(1)]");
    // All repetitions of the weights are in memory.
    const auto held = [](const ModelDistribution& plan, const char* name) {
        for (size_t v = 0; v < plan.model.problem.values.size(); ++v)
            if (plan.model.problem.values[v].name == name)
                return plan.model.problem.bytes(distribution::units_of(
                    plan.model.problem, plan.model.problem.values[v], plan.found.plan.values[v]));
        return 0.0;
    };
    EXPECT_EQ(held(three, "up"), 3 * 64 * 16 * 4 / 2);
    EXPECT_EQ(held(nine, "up"), 9 * 64 * 16 * 4 / 2);
}

TEST(Models, LessMemoryCostsTimeAndEndsInARefusal) {
    Cluster cluster = pair_of_devices();
    cluster.placement.levels[0].latency = 1e-5;  // so that copies are faster than exchanges
    const Graph graph = layers(3);
    double before = 0;
    std::vector<int64_t> limits;
    const ModelSearch free(graph, cluster, {});
    const auto bytes = [&](const ModelDistribution& plan) {
        return plan.model.problem.bytes(plan.found.plan.units);
    };
    const double most = bytes(free.best());
    EXPECT_GT(most, 6 * 64 * 16 * 4);  // everything twice
    bool is_refused = false;
    for (double limit = most; !is_refused; limit *= 0.8) {
        cluster.memory = static_cast<int64_t>(limit);
        const ModelDistribution plan = ModelSearch(graph, cluster, {}).best();
        is_refused = plan.found.status == distribution::Status::kInfeasible;
        if (is_refused) {
            const std::string report = text(ModelReport{cluster, plan, {}});
            EXPECT_THAT(report, HasSubstr("least memory"));
            EXPECT_THAT(report, HasSubstr("up  "));
            break;
        }
        EXPECT_EQ(plan.found.status, distribution::Status::kOptimal);
        EXPECT_GE(plan.found.plan.seconds, before * (1 - 1e-9));
        EXPECT_LE(bytes(plan), limit);
        before = plan.found.plan.seconds;
    }
    EXPECT_GT(before, 2e-5);
}

TEST(Models, DevicesThatShareAMemoryHoldOneCopy) {
    Cluster cluster = pair_of_devices();
    const double apart = [&] {
        const ModelDistribution plan = best(layers(3), cluster);
        return plan.model.problem.bytes(plan.found.plan.units);
    }();
    cluster.placement.levels[0].shares_memory = true;
    const ModelDistribution plan = best(layers(3), cluster);
    const double together = plan.model.problem.bytes(plan.found.plan.units);
    EXPECT_GT(together, 6 * 64 * 16 * 4);
    EXPECT_GT(together, apart);  // a memory has both halves of the weights
}

TEST(Models, TheAccountHasGroupsAndMemory) {
    const ModelReport report{pair_of_devices(), best(layers(3), pair_of_devices()), {}};
    const auto json = nlohmann::json::parse(json_text(report));
    EXPECT_EQ(json.at("groups").size(), 3U);
    EXPECT_EQ(json.at("groups")[1].at("repeat"), 3);
    EXPECT_EQ(json.at("held").at("weights"), 2 * 3 * 64 * 16 * 4 / 2);
    double boxes = 0;
    for (const auto& group : json.at("groups"))
        for (const auto& tensor : group.at("tensors"))
            for (const auto& box : tensor.at("boxes"))
                boxes += box.at("microseconds").get<double>() * group.at("repeat").get<double>() / 1e6;
    double expected = 0;
    for (const auto& value : report.found.found.plan.values)
        for (const auto& box : value.boxes) expected += box.seconds;
    EXPECT_NEAR(boxes, expected, 1e-12);
    EXPECT_GT(boxes, 0);
    EXPECT_THAT(groups_text(json_text(report), "test"), HasSubstr("\nlayer, 3 times\n"));
    EXPECT_THROW((void)groups_text("{}", "test"), Error);
}

/// With the boxes that ranks execute; both weights are split, the second one by rows.
ModelReport for_ranks(int64_t ranks) {
    Cluster cluster = pair_of_devices();
    cluster.placement.levels[0].count = ranks;
    const ModelOptions options{.held = {},
                               .cut = facts::Cut::kRagged,
                               .collectives = distribution::CollectiveModel::kGathered,
                               .is_for_execution = true};
    const Graph graph = layers(3);
    verify(graph, "test");
    return {cluster, ModelSearch(graph, cluster, options).best(), {}};
}

TEST(Models, TheAccountSaysWhatRanksExchange) {
    int exchanges = 0;
    for (const int64_t ranks : {2, 3}) {
        const auto json = nlohmann::json::parse(json_text(for_ranks(ranks)));
        for (const auto& group : json.at("groups"))
            for (const auto& tensor : group.at("tensors"))
                for (const auto& box : tensor.at("boxes")) {
                    EXPECT_EQ(box.contains("exchange"), box.at("collective") != "slice");
                    if (!box.contains("exchange")) continue;
                    ++exchanges;
                    const auto& exchange = box.at("exchange");
                    EXPECT_NEAR(exchange.at("microseconds").get<double>(),
                                box.at("microseconds").get<double>(),
                                1e-9);  // there is one point
                    // T = 1: one row of 16 elements, or the part of it.
                    if (exchange.at("call") == "place") {
                        EXPECT_EQ(exchange.at("rows"), 1);
                        EXPECT_EQ(exchange.at("starts").size(), static_cast<size_t>(ranks) + 1);
                    } else if (box.at("collective") == "all-reduce") {
                        EXPECT_EQ(exchange.at("part_bytes"), 64);
                    }
                }
    }
    EXPECT_GT(exchanges, 2);
}

TEST(Models, TheAccountIsDrawn) {
    auto json = nlohmann::ordered_json::parse(json_text(for_ranks(2)));
    bool is_measured = false;
    for (auto& group : json.at("groups"))
        for (auto& tensor : group.at("tensors"))
            for (auto& box : tensor.at("boxes"))
                if (box.contains("exchange")) {
                    box["exchange"]["measured_microseconds"] = 123.0;
                    is_measured = true;
                }
    ASSERT_TRUE(is_measured);
    EXPECT_THAT(groups_text(json.dump(), "test"), HasSubstr(", measured 123 us"));
    const std::string svg = groups_svg(json.dump(), "test");
    EXPECT_THAT(svg, ::testing::StartsWith("<svg xmlns="));
    EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
    EXPECT_THAT(svg, HasSubstr(">layer, 3 times</text>"));
    EXPECT_THAT(svg, HasSubstr(">123 us</text>"));
    EXPECT_THAT(svg, HasSubstr("S(0)"));
    EXPECT_THROW((void)groups_svg("{}", "test"), Error);
}

/// A description that ships.
Cluster shipped(const std::string& name) {
    std::ifstream file(std::filesystem::path(TESSERA_SOURCE_DIR) / "machines" / "clusters" / name);
    std::stringstream text;
    text << file.rdbuf();
    return parse_cluster(text.str(), name);
}

TEST(Models, ShapesCostNoMoreThanByHand) {
    const char* const name_of_config = "data/configs/mlc/qwen3_1.7b.json";
    TESSERA_SKIP_WITHOUT_SHARED(name_of_config, "plans of Qwen3-1.7B beside those by hand");
    const std::filesystem::path config = test::shared_data(name_of_config);
    const Graph graph = ops::decompose(import::import_shapes(config, {.context = 4096}).graph);
    for (const char* name : {"sockets.toml", "nodes.toml"}) {
        const Cluster cluster = shipped(name);
        const ModelSearch search(graph, cluster, {.held = {{"P", 256}}});
        const ModelDistribution found = search.best();
        const ModelDistribution by_hand = search.best({}, megatron(graph, cluster));
        EXPECT_EQ(found.found.status, distribution::Status::kOptimal) << name;
        ASSERT_TRUE(by_hand.found.has_plan()) << name;
        EXPECT_LE(found.found.plan.seconds, by_hand.found.plan.seconds * (1 + 1e-9)) << name;
    }
}

}  // namespace
}  // namespace tessera::spmd
