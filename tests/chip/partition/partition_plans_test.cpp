#include "chip/partition/partition_plans.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/small_chips.h"
#include "ir/facts/enumerated.h"
#include "ir/random_definition.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

WorkOperator operator_of(const std::string& text, std::vector<Place> places) {
    const Definition definition = parse_definition(text, "test.op");
    WorkOperator op{.name = "test",
                    .bound = facts::bind_unfilled(definition, {}, "test.op"),
                    .places = std::move(places)};
    for (size_t t = 0; t < op.places.size(); ++t) op.values.push_back(static_cast<int>(t));
    return op;
}

WorkOperator product() {
    return operator_of(
        "op product(t: 4, n: 8, k*: 6)\nin X f16[t, k]\nin W f16[n, k]\nout Y f32[t, n] = sum(f32(X) * "
        "f32(W))\n",
        {Place::kOnChip, Place::kHbm, Place::kOnChip});
}

/// The plan with these sizes and rotation.
ExecutePlan find_plan(const PartitionPlans& plans, const TileSizes& sizes, int64_t steps = 1,
                      size_t along = 0, uint32_t rotating = 0) {
    std::vector<ExecutePlan> found;
    plans.for_each([&](const ExecutePlan& plan) {
        if (plan.sizes == sizes && plan.steps == steps && plan.along == along && plan.rotating == rotating)
            found.push_back(plan);
    });
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? ExecutePlan{} : found.front();
}

TEST(PartitionPlans, CountBytesAndCyclesOfAProduct) {
    const WorkOperator op = product();
    const chip::ChipDescription chip = small_chip({.reserved_bytes = 64});
    const PartitionPlans plans(op, chip, 1000);
    // 2 x 2 tiles of t 2, n 4, k 6: X 24 bytes from the chip, W 48 bytes, Y 32 bytes.
    const ExecutePlan plan = find_plan(plans, {2, 4, 6});
    EXPECT_EQ(plan.tiles, 4);
    EXPECT_EQ(plan.exec_bytes, 24 + 48 + 32);
    EXPECT_EQ(plan.shift_bytes, 24);
    EXPECT_EQ(plan.shift, 24 / 4.0);
    // One row and column of blocks, 3 summed: 96 flops of 16 a cycle; the port takes longer. The last byte
    // goes through the switch, two links, on which nothing else has to wait.
    EXPECT_EQ(plan.compute, 104 / 16.0 + 3 + 1000 + 2 * 5);
    // k is cut in two: each core adds half of the other's sums.
    const ExecutePlan cut = find_plan(plans, {2, 8, 3});
    EXPECT_EQ(cut.tiles, 4);
    EXPECT_EQ(cut.exec_bytes, 12 + 48 + 64);
    EXPECT_EQ(cut.shift_bytes, 12 + 32);
    EXPECT_EQ(cut.shift, 44 / 4.0);
    // Blocks: 1 x 2 x 2 of 2 x 4 x 2, 8 cycles, and 16 sums x 1/2 / 2 a cycle. Two exchanges.
    EXPECT_EQ(cut.compute, 8 + 3 + 4 + 1000 + 2 * 2 * 5);
    // W in two parts along k: each core has one, and gets the other from the core that shares it.
    const ExecutePlan rotated = find_plan(plans, {2, 4, 6}, 2, 2, 0b10);
    EXPECT_EQ(rotated.exec_bytes, 24 + 24 + 32);
    EXPECT_EQ(rotated.shift_bytes, 24 + 24);
    EXPECT_EQ(rotated.shift, 48 / 4.0 + 2 * 5) << "the next step waits for the part that rotates";
    // Two steps of 3 of k: the port moves X 12, W 24, Y 32 bytes. During the first one a part is on its way.
    EXPECT_EQ(rotated.hidden, 68 / 16.0 + 3);
    EXPECT_EQ(rotated.compute, 68 / 16.0 + 3 + 1000 + 2 * 5);
}

TEST(PartitionPlans, RefuseAnOperatorWithTooManySlicings) {
    const WorkOperator op = product();
    const chip::ChipDescription chip = small_chip();
    int64_t slicings = 0;
    PartitionPlans(op, chip).for_each([&](const ExecutePlan& plan) { slicings += plan.steps == 1; });
    const auto ignore = [](const ExecutePlan&) {};
    EXPECT_NO_THROW(PartitionPlans(op, chip, 0, slicings).for_each(ignore));
    try {
        PartitionPlans(op, chip, 0, slicings - 1).for_each(ignore);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr(fmt::format("`test`: has more than {} slicings on 6 cores", slicings - 1)));
    }
}

TEST(PartitionPlans, WithoutAReservedBufferARotatingPartNeedsASecondOne) {
    const WorkOperator op = product();
    const chip::ChipDescription chip = small_chip();
    EXPECT_EQ(find_plan(PartitionPlans(op, chip), {2, 4, 6}, 2, 2, 0b10).exec_bytes, 24 + 48 + 32);
}

TEST(PartitionPlans, PreloadsShareAsThePaperSays) {
    // Paper 003, 4.3: 4 cores share a piece; each gets all, half or a quarter of it, and fetches the rest.
    const WorkOperator op = operator_of(
        "op product(t: 4, k*: 16)\nin X f16[t, k]\nin W f16[k]\nout Y f32[t] = sum(f32(X) * f32(W))\n",
        {Place::kOnChip, Place::kHbm, Place::kOnChip});
    const chip::ChipDescription chip = small_chip();
    const PartitionPlans plans(op, chip);
    const auto preloads = plans.preloads(find_plan(plans, {1, 16}));
    EXPECT_THAT(preloads,
                ElementsAre(PreloadPlan{1, 32, 0, 0, 0, 10}, PreloadPlan{2, 16, 16, 16 / 4.0, 10, 10},
                            PreloadPlan{4, 8, 24, 24 / 4.0, 10, 10}));
    // In two steps a core never holds more than half.
    EXPECT_THAT(plans.preloads(find_plan(plans, {1, 16}, 2, 1, 0b10)),
                ElementsAre(PreloadPlan{2, 16, 0, 0, 0, 10}, PreloadPlan{4, 8, 8, 8 / 4.0, 10, 10}));
    EXPECT_EQ(plans.hbm_bytes(), 32);
}

TEST(PartitionPlans, NewContentsOfAStateGoToTheHbm) {
    const WorkOperator op =
        operator_of("op store(t: 4, d: 8)\nin X f32[t, d]\nupdate C f16[t + 2, d] of [10, 8] = X\n",
                    {Place::kOnChip, Place::kHbm});
    const chip::ChipDescription chip = small_chip();
    const PartitionPlans plans(op, chip);
    EXPECT_EQ(plans.hbm_bytes(), 0);
    EXPECT_EQ(plans.stored_bytes(), 64);
    EXPECT_EQ(find_plan(plans, {2, 8}).shift_bytes, 64 + 32);
    EXPECT_THAT(plans.preloads(find_plan(plans, {2, 8})), ElementsAre(PreloadPlan{}));
}

TEST(PartitionPlans, WaitOnceForWhatComesTogether) {
    const WorkOperator op =
        operator_of("op add(t: 4, d: 8)\nin A f32[t, d]\nin B f32[t, d]\nout C f32[t, d] = A + B\n",
                    {Place::kOnChip, Place::kOnChip, Place::kOnChip});
    const chip::ChipDescription chip = small_chip();
    const ExecutePlan plan = find_plan(PartitionPlans(op, chip), {2, 8});
    EXPECT_EQ(plan.shift_bytes, 64 + 64);
    EXPECT_EQ(plan.shift, 128 / 4.0);
    EXPECT_EQ(plan.compute, 192 / 16.0 + 3 + 2 * 5) << "the port takes longer than to add";
}

TEST(PartitionPlans, WaitForTheHbmToTakeNewContents) {
    const WorkOperator op =
        operator_of("op store(t: 4, d: 8)\nin X f32[t, d]\nupdate C f16[t + 2, d] of [10, 8] = X\n",
                    {Place::kOnChip, Place::kHbm});
    const chip::ChipDescription chip = small_chip();
    const ExecutePlan plan = find_plan(PartitionPlans(op, chip), {2, 8});
    EXPECT_EQ(plan.compute, 16 / 2.0 + 3 + 50 + 2 * 2 * 5);
    EXPECT_EQ(plan.shift, (64 + 32) / 4.0);
}

TEST(PartitionPlans, AddOnNoMoreCoresThanThereAreSums) {
    const WorkOperator op = operator_of("op total(t: 1, k*: 6)\nin X f32[t, k]\nout Y f32[t] = sum(X)\n",
                                        {Place::kOnChip, Place::kOnChip});
    const chip::ChipDescription chip = small_chip();
    const ExecutePlan plan = find_plan(PartitionPlans(op, chip), {1, 1});
    // One core gets the parts of the five others, and adds them.
    EXPECT_EQ(plan.shift_bytes, 4 + 5 * 4);
    EXPECT_EQ(plan.compute, 0.5 + 3 + 5 / 2.0 + 2 * 2 * 5);
}

TEST(PartitionPlans, OnAGridEveryCutIteratorHasAxesOfItsOwn) {
    const WorkOperator op = product();
    const chip::ChipDescription chip = small_chip({.topology = "mesh", .shape = "[2, 6]", .cores = 12});
    const PartitionPlans plans(op, chip);
    EXPECT_TRUE(plans.fits(find_plan(plans, {2, 2, 6})));   // t/2 n/4
    EXPECT_TRUE(plans.fits(find_plan(plans, {4, 1, 6})));   // n/8 along both
    EXPECT_FALSE(plans.fits(find_plan(plans, {1, 3, 6})));  // t/4 and n/3 both need the long axis
    EXPECT_FALSE(plans.fits(find_plan(plans, {2, 4, 3})));  // three iterators
}

/// Every way to slice by the definition of the space: as even as possible.
std::vector<TileSizes> every_slicing(const std::vector<int64_t>& extents, int64_t cores) {
    std::vector<TileSizes> all = {{}};
    for (const int64_t extent : extents) {
        std::set<int64_t> own;
        for (int64_t parts = 1; parts <= extent; ++parts) own.insert((extent + parts - 1) / parts);
        std::vector<TileSizes> longer;
        for (const TileSizes& sizes : all)
            for (const int64_t size : own) {
                longer.push_back(sizes);
                longer.back().push_back(size);
            }
        all = std::move(longer);
    }
    std::erase_if(all, [&](const TileSizes& sizes) {
        int64_t tiles = 1;
        for (size_t i = 0; i < sizes.size(); ++i) tiles *= tile_count(extents[i], sizes[i]);
        return tiles > cores;
    });
    return all;
}

void add_time(std::map<int64_t, double>& fastest, int64_t bytes, double time) {
    const auto [at, is_new] = fastest.emplace(bytes, time);
    if (!is_new) at->second = std::min(at->second, time);
}

/// The times that no smaller space has.
std::vector<std::pair<int64_t, double>> front_of(const std::map<int64_t, double>& fastest) {
    std::vector<std::pair<int64_t, double>> front;
    for (const auto& [bytes, time] : fastest)
        if (front.empty() || time < front.back().second) front.emplace_back(bytes, time);
    return front;
}

TEST(PartitionPlans, OfRandomOperatorsCoverTheirIterationsAndMakeTheWholeFront) {
    size_t rotations = 0, longest = 0;
    for (uint64_t seed = 0; seed < 80; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 300});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const DefinitionFile file = parse_definition_file(text, "drawn.op");
        WorkOperator op{.name = "drawn", .bound = facts::bind_test(file, "drawn.op")};
        for (size_t t = 0; t < file.definition.tensors.size(); ++t) {
            op.places.push_back((seed + t) % 2 == 0 ? Place::kHbm : Place::kOnChip);
            op.values.push_back(static_cast<int>(t));
        }
        const chip::ChipDescription chip =
            seed % 3 == 0
                ? small_chip({.topology = "mesh", .shape = "[3, 4]", .cores = 12, .sram_bytes = 2000})
                : small_chip({.cores = 10, .sram_bytes = 2000, .reserved_bytes = static_cast<int>(seed % 2)});
        const PartitionPlans plans(op, chip);
        const std::vector<int64_t>& extents = op.bound.extents.iterators;

        std::set<TileSizes> slicings;
        std::map<int64_t, double> fastest, fastest_apart;  // by space
        plans.for_each([&](const ExecutePlan& plan) {
            int64_t tiles = 1, covered = 1, iterations = 1;
            for (size_t i = 0; i < extents.size(); ++i) {
                const int64_t count = tile_count(extents[i], plan.sizes[i]);
                ASSERT_GT(count * plan.sizes[i], extents[i] - 1);
                ASSERT_LT((count - 1) * plan.sizes[i], extents[i]);  // no tile is empty
                int64_t along = 0;
                for (int64_t j = 0; j < count; ++j)
                    along += std::min(extents[i], (j + 1) * plan.sizes[i]) - j * plan.sizes[i];
                covered *= along;
                iterations *= extents[i];
                tiles *= count;
            }
            ASSERT_EQ(covered, iterations);
            ASSERT_EQ(tiles, plan.tiles);
            ASSERT_LE(tiles, chip.chip.cores);
            if (plan.steps > 1) {
                ++rotations;
                ASSERT_EQ(plan.sizes[plan.along] % plan.steps, 0);
                for (size_t t = 0; t < op.places.size(); ++t)
                    if ((plan.rotating >> t) & 1) {
                        ASSERT_EQ(plans.footprints().sharers(t, plan.sizes) % plan.steps, 0);
                        ASSERT_TRUE(plans.footprints().uses(t, plan.along));
                    }
            } else {
                ASSERT_TRUE(slicings.insert(plan.sizes).second) << "twice";
            }
            if (!plans.fits(plan) || !plans.can_execute(plan)) return;
            add_time(fastest, plan.exec_bytes, plan.time());
            add_time(fastest_apart, plan.exec_bytes, plan.time_apart());
        });
        const auto all = every_slicing(extents, chip.chip.cores);
        EXPECT_EQ(slicings, std::set<TileSizes>(all.begin(), all.end()));

        PlanCounts counts;
        size_t front = 0;
        std::map<int64_t, double> got, got_apart;
        for (const ExecutePlan& plan : plans.front(counts)) {
            ++front;
            add_time(got, plan.exec_bytes, plan.time());
            add_time(got_apart, plan.exec_bytes, plan.time_apart());
            const auto preloads = plans.preloads(plan);
            ASSERT_FALSE(preloads.empty());
            EXPECT_EQ(preloads.front().distribute, 0);
            for (size_t p = 1; p < preloads.size(); ++p) {
                EXPECT_LT(preloads[p].preload_bytes, preloads[p - 1].preload_bytes);
                EXPECT_GT(preloads[p].distribute, preloads[p - 1].distribute);
                EXPECT_GE(preloads[p].preload_bytes + preloads[p].distribute_bytes,
                          preloads[0].preload_bytes);
            }
            // All cores together hold everything that the HBM delivers.
            EXPECT_GE(preloads.back().preload_bytes * plan.tiles, plans.hbm_bytes());
        }
        const auto want = front_of(fastest), want_apart = front_of(fastest_apart);
        EXPECT_EQ(front_of(got), want);
        EXPECT_EQ(front_of(got_apart), want_apart);
        EXPECT_LE(front, want.size() + want_apart.size());
        EXPECT_EQ(counts.slicings, static_cast<int64_t>(all.size()));
        EXPECT_EQ(counts.front, static_cast<int64_t>(front));
        longest = std::max(longest, want.size());
    }
    EXPECT_GT(rotations, 500u);
    EXPECT_GE(longest, 5u);
}

}  // namespace
}  // namespace tessera::partition
