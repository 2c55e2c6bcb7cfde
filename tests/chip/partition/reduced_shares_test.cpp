#include "chip/partition/reduced_shares.h"

#include <gtest/gtest.h>

#include "chip/partition/small_chips.h"
#include "chip/partition/workload.h"
#include "ir/random_definition.h"

namespace tessera::partition {
namespace {

TEST(SumShares, CompleteEveryElementOnceOnATileThatWritesIt) {
    const chip::ChipDescription chip = small_chip({.cores = 7, .sram_bytes = 400'000});
    int added = 0;
    for (uint64_t seed = 0; seed < 120; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 300});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const facts::BoundDefinition bound =
            facts::bind_test(parse_definition_file(text, "drawn.op"), "drawn.op");
        if (bound.definition.monoid == Monoid::kSoftmaxSum) continue;
        const size_t tensors = bound.definition.tensors.size();
        const WorkOperator op{"op", bound, std::vector<Place>(tensors, Place::kHbm),
                              std::vector<int>(tensors, 0)};
        const auto result = static_cast<size_t>(bound.definition.results().front());
        int plans = 0;
        PartitionPlans(op, chip).for_each([&](const ExecutePlan& plan) {
            if (plan.steps > 1 || ++plans > 20) return;
            const std::vector<PlacedTile> tiles = place_tiles(bound, plan, chip);
            Elements written, completed;
            for (const PlacedTile& tile : tiles)
                written = unite(written, written_elements(bound, result, tile.box));
            for (const SumShare& share : sum_shares(bound, tiles)) {
                const Elements& own = share.pieces.front().elements;
                EXPECT_TRUE(common(completed, own).empty());
                completed = unite(completed, own);
                EXPECT_TRUE(without(own, written_elements(bound, result, tiles[share.tile].box)).empty());
                // Its parts are what the others write of it.
                int64_t parts = 0;
                for (const SumShare::Part& part : share.parts) {
                    EXPECT_NE(part.tile, share.tile);
                    parts += part.pieces.front().elements.size();
                    ++added;
                }
                int64_t expected = -own.size();
                for (const PlacedTile& tile : tiles)
                    expected += common(own, written_elements(bound, result, tile.box)).size();
                EXPECT_EQ(parts, expected);
            }
            EXPECT_EQ(completed, written);
        });
    }
    EXPECT_GE(added, 500);
}

}  // namespace
}  // namespace tessera::partition
