// Published figures of networks: hops and loads of tori, and DRAM through the torus of Wormhole.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/packet_engine.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::chip {
namespace {

using Json = nlohmann::json;

Json figures(const std::string& name) {
    return Json::parse(MappedFile::open(test::shared_data("chip/figures/" + name).string()).text());
}

TEST(Grids, HopsAndLoadsAreThePublishedOnes) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/figures/networks.json", "hops and loads of meshes and tori");
    const std::map<std::string, Topology> kinds = {
        {"mesh", Topology::kMesh}, {"torus", Topology::kTorus}, {"one-way torus", Topology::kOneWayTorus}};
    const Json json = figures("networks.json");
    EXPECT_GE(json["rows"].size(), 11u);
    for (const Json& row : json["rows"]) {
        SCOPED_TRACE(row.dump());
        const Chip chip{.cores = row[1].get<int32_t>() * row[2].get<int32_t>(),
                        .topology = kinds.at(row[0]),
                        .rows = row[1],
                        .columns = row[2],
                        .link_bytes_per_cycle = 1};
        const Network network(chip);
        std::vector<int64_t> load(network.links().size(), 0);
        int64_t hops = 0;
        for (int32_t a = 0; a < chip.cores; ++a)
            for (int32_t b = 0; b < chip.cores; ++b) {
                const auto route = network.between(a, {&b, 1});
                EXPECT_EQ(static_cast<int32_t>(route.size()), network.distance(a, b));
                hops += static_cast<int64_t>(route.size());
                for (const Hop& hop : route) ++load[static_cast<size_t>(hop.link)];
            }
        EXPECT_NEAR(static_cast<double>(hops) / chip.cores / chip.cores, row[3].get<double>(), 1e-12);
        EXPECT_EQ(*std::max_element(load.begin(), load.end()), row[5].get<int64_t>());
    }
}

struct Place {
    int32_t x, y;
};

/// A tile with the channel that it reads from or writes to.
struct Pair {
    Place tile;
    int32_t channel;
};

constexpr int32_t kColumns = 10, kRows = 12, kChannels = 12;
constexpr double kChannelRate = 22.3;             ///< bytes a cycle, as measured
constexpr double kLinkRate = 32 * 256.0 / 257.0;  ///< a header flit for 256 of data
constexpr int64_t kMoved = 1 << 20, kPacket = 256 * 32;

/// The tile of a group at which a channel is reached: the first of even channels, the second of odd ones.
Place door_of(const Json& machine, int32_t channel) {
    const Json& tile =
        machine["dram_groups"][static_cast<size_t>(channel / 2)][static_cast<size_t>(channel % 2)];
    return {tile[0], tile[1]};
}

/// Network 0 moves right, then down. Network 1 moves up, then left: the same with rows and columns exchanged
/// and counted backwards.
int32_t core_of(const Place& place, int network) {
    if (network == 0) return place.y * kColumns + place.x;
    return (kColumns - place.x) % kColumns * kRows + (kRows - place.y) % kRows;
}

/// Bytes a cycle, or GB/s at 1 GHz, until the last tile is done.
double moved_rate(const Json& machine, int network, bool is_read, const std::vector<Pair>& pairs) {
    Chip chip{.cores = kColumns * kRows,
              .topology = Topology::kOneWayTorus,
              .rows = network == 0 ? kRows : kColumns,
              .columns = network == 0 ? kColumns : kRows,
              .link_bytes_per_cycle = kLinkRate,
              .latency = machine["cycles_per_hop"]};
    for (int32_t c = 0; c < kChannels; ++c)
        chip.hbm.push_back({kChannelRate, kLinkRate, 0, {core_of(door_of(machine, c), network)}});
    const Network grid(chip);
    EventQueue queue;
    PacketEngine engine(chip, grid, queue);
    for (int64_t sent = 0; sent < kMoved; sent += kPacket)
        for (const Pair& pair : pairs) {
            const int32_t core = core_of(pair.tile, network);
            engine.send({.kind = is_read ? TransferKind::kPreload : TransferKind::kStore,
                         .from = core,
                         .to = {&core, 1},
                         .bytes = kPacket},
                        0, PacketEngine::Port{pair.channel, 0});
        }
    while (!queue.is_empty()) engine.handle(queue.pop());
    double end = 0;
    for (const PacketEngine::Landing& landing : engine.landings()) end = std::max(end, landing.time);
    return static_cast<double>(kMoved) * static_cast<double>(pairs.size()) / end;
}

/// The mean over random pairs.
double predicted_rate(const Json& machine, int network, bool is_read, size_t tiles) {
    constexpr int kPairings = 20;
    std::mt19937 random(1);
    double sum = 0;
    for (int p = 0; p < kPairings; ++p) {
        std::vector<Place> places;
        for (const Json& x : machine["tensix_columns"])
            for (const Json& y : machine["tensix_rows"]) places.push_back({x, y});
        for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
        std::vector<Pair> pairs;
        for (size_t i = 0; i < tiles; ++i) pairs.push_back({places[i], static_cast<int32_t>(i % kChannels)});
        sum += moved_rate(machine, network, is_read, pairs);
    }
    return sum / kPairings;
}

TEST(Wormhole, DramThroughTheTorus) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/figures/wormhole.json", "DRAM through the torus of Wormhole");
    const Json json = figures("wormhole.json");
    const Json& machine = json["machine"];
    for (const size_t tiles : {12, 48}) {
        SCOPED_TRACE(tiles);
        std::map<std::pair<bool, int>, double> rate;  // read?, network
        for (const bool is_read : {true, false})
            for (const int network : {0, 1})
                rate[{is_read, network}] = predicted_rate(machine, network, is_read, tiles);
        for (const Json& row : json["rows"])
            if (row[0] == 12 && row[1] == tiles && row[2] == "random" && row[3] == "read") {
                const double measured = row[6], predicted = rate[{true, row[5]}];
                EXPECT_NEAR(predicted, measured, 0.25 * measured) << row.dump();
            }
        EXPECT_GE(std::min(rate[{true, 0}], rate[{false, 1}]),
                  1.5 * std::max(rate[{true, 1}], rate[{false, 0}]));
    }
}

// Pairs in a row, each with a stretch of the row of its own, move horizontally only.
TEST(Wormhole, PairsThatMoveHorizontallyReachTheChannels) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/figures/wormhole.json", "careful placement on Wormhole");
    const Json json = figures("wormhole.json");
    std::vector<Pair> pairs;
    for (int32_t c = 0; c < kChannels; ++c) {
        const Place door = door_of(json["machine"], c);
        pairs.push_back({{door.x + 1, door.y}, c});
    }
    EXPECT_NEAR(moved_rate(json["machine"], 0, true, pairs), 265, 0.03 * 265);
}

}  // namespace
}  // namespace tessera::chip
