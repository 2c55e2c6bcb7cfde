#include "chip/partition/network_traffic.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "chip/network.h"
#include "chip/partition/small_chips.h"

namespace tessera::partition {
namespace {

/// Bytes on each link, by the routes of the simulator.
class Loads {
public:
    void add(const std::vector<chip::Hop>& route, double bytes) {
        for (const chip::Hop& hop : route) of_[hop.link] += bytes;
    }
    double most() const {
        double result = 0;
        for (const auto& [link, bytes] : of_) result = std::max(result, bytes);
        return result;
    }

private:
    std::map<int32_t, double> of_;
};

chip::ChipDescription mesh(int64_t rows, int64_t columns, const std::string& topology = "mesh") {
    return small_chip({.topology = topology,
                       .shape = fmt::format("[{}, {}]", rows, columns),
                       .cores = static_cast<int>(rows * columns)});
}

/// Cores of a box at the first places, the first axis fastest, as tiles lie.
std::vector<int32_t> cores_of(const Spread& box, int64_t columns) {
    std::vector<int32_t> cores;
    for (int64_t c = 0; c < box[1]; ++c)
        for (int64_t r = 0; r < box[0]; ++r) cores.push_back(static_cast<int32_t>(r * columns + c));
    return cores;
}

const Spread kBoxes[] = {{1, 2}, {3, 1}, {5, 1}, {1, 6}, {4, 3}, {5, 6}, {2, 6}};

TEST(NetworkTraffic, ExchangesLoadLinksAsTheirRoutesDo) {
    const chip::ChipDescription chip = mesh(5, 6);
    const chip::Network network(chip.chip);
    const NetworkTraffic traffic(chip);
    for (const Spread& box : kBoxes) {
        const std::vector<int32_t> cores = cores_of(box, 6);
        for (size_t receivers = 1; receivers <= cores.size(); ++receivers) {
            // A box of receivers: whole columns of it.
            if (receivers > static_cast<size_t>(box[0]) && receivers % static_cast<size_t>(box[0]) != 0)
                continue;
            Loads loads;
            for (const int32_t from : cores)
                for (size_t to = 0; to < receivers; ++to)
                    if (cores[to] != from) loads.add(network.between(from, {&cores[to], 1}), 1);
            EXPECT_EQ(traffic.exchanged(box, static_cast<int64_t>(receivers)), loads.most())
                << box[0] << " x " << box[1] << ", " << receivers;
        }
    }
}

TEST(NetworkTraffic, RingsHaveTheMeanOfTheirLinks) {
    const chip::ChipDescription chip = mesh(5, 6, "torus");
    const NetworkTraffic traffic(chip);
    EXPECT_EQ(traffic.exchanged({5, 1}, 5), 3);  // to two each way: 1 + 2 links
    EXPECT_EQ(traffic.exchanged({1, 6}, 6), 4.5);
    EXPECT_EQ(traffic.hops({5, 6}), 2 + 3);
}

TEST(NetworkTraffic, WhatAllNeedPassesTheLastLinkNearlyWhole) {
    const chip::ChipDescription chip = mesh(5, 6);
    const chip::Network network(chip.chip);
    const NetworkTraffic traffic(chip);
    for (const Spread& box : kBoxes) {
        const std::vector<int32_t> cores = cores_of(box, 6);
        const auto count = static_cast<double>(cores.size());
        Loads loads;
        for (const int32_t from : cores) {
            std::vector<int32_t> others = cores;
            std::erase(others, from);
            loads.add(network.between(from, others), 1 / count);
        }
        // The cores behind the last link of a line have a part of it themselves.
        const std::vector<double> parts = traffic.gathered(box);
        double most = 0;
        for (size_t a = 0; a < box.size(); ++a)
            most = std::max(most, parts[a] * (1 - 1 / static_cast<double>(box[a])));
        EXPECT_NEAR(loads.most(), most, 1e-9) << box[0] << " x " << box[1];
    }
}

TEST(NetworkTraffic, WhatTheHbmDeliversCrossesTheGrid) {
    chip::ChipDescription chip = mesh(5, 6);
    chip.chip.hbm = {{.bytes_per_cycle = 10, .port_bytes_per_cycle = 2, .at = {0, 6, 12, 18, 24}},
                     {.bytes_per_cycle = 10, .port_bytes_per_cycle = 2, .at = {5, 11, 17, 23, 29}}};
    const chip::Network network(chip.chip);
    const NetworkTraffic traffic(chip);
    const Spread all = {5, 6};
    // A piece for each core; for all cores of a row or column; for every second core of a column; for all.
    for (const Spread& strides : {Spread{5, 6}, Spread{5, 1}, Spread{1, 6}, Spread{2, 6}, Spread{1, 1}}) {
        const double piece = 1.0 / static_cast<double>(strides[0] * strides[1]);
        Loads loads;
        for (int64_t r = 0; r < strides[0]; ++r)
            for (int64_t c = 0; c < strides[1]; ++c) {
                std::vector<int32_t> to;
                for (int64_t row = r; row < 5; row += strides[0])
                    for (int64_t column = c; column < 6; column += strides[1])
                        to.push_back(static_cast<int32_t>(row * 6 + column));
                for (int32_t h = 0; h < 2; ++h)
                    for (size_t door = 0; door < 5; ++door)
                        loads.add(network.from_controller(h, door, to), piece / 10);
            }
        EXPECT_NEAR(traffic.delivered(all, strides), loads.most(), 0.021) << strides[0] << ", " << strides[1];
    }
    EXPECT_EQ(traffic.hbm_hops(), 3);  // the third core of a row: a port and two links
}

TEST(NetworkTraffic, KnowsNoWaysOnAnAllToAllChip) {
    const chip::ChipDescription chip = small_chip();
    const NetworkTraffic traffic(chip);
    EXPECT_EQ(traffic.hops({6}), 2);
    EXPECT_EQ(traffic.exchanged({6}, 6), 5);
    EXPECT_EQ(traffic.gathered({6}), std::vector<double>{1});
    EXPECT_EQ(traffic.delivered({6}, {1}), 0);
}

}  // namespace
}  // namespace tessera::partition
