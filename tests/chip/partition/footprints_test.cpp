#include "chip/partition/footprints.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ir/facts/enumerated.h"
#include "ir/random_definition.h"

// Footprints of tiles, against a walk over every iteration that shares no code with src/ir/facts.
namespace tessera::partition {
namespace {

using facts::Enumerated;
using ElementPoints = std::set<facts::Point>;

/// The elements of a tensor that each tile touches, by the place of the tile.
std::map<facts::Point, ElementPoints> touched_by_tiles(const Enumerated& all, int tensor,
                                                       const TileSizes& sizes) {
    const std::vector<int64_t>& shape = all.extents().shapes[static_cast<size_t>(tensor)];
    std::map<facts::Point, ElementPoints> tiles;
    for (const facts::Point& point : all.box()) {
        facts::Point tile;
        for (size_t i = 0; i < sizes.size(); ++i) tile.push_back(point[i] / sizes[i]);
        ElementPoints& elements = tiles[tile];
        for (const auto& access : all.accesses(tensor)) {
            const facts::Point at = all.coordinates(access.map, point);
            bool is_inside = true;
            for (size_t axis = 0; axis < shape.size(); ++axis)
                is_inside = is_inside && at[axis] >= 0 && at[axis] < shape[axis];
            if (is_inside) elements.insert(at);
        }
    }
    return tiles;
}

TEST(Footprints, OfRandomDefinitionsAreThoseOfEveryIteration) {
    std::mt19937_64 random(7);
    size_t shared = 0, ungrouped = 0;
    for (uint64_t seed = 0; seed < 150; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 500});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const DefinitionFile file = parse_definition_file(text, "drawn.op");
        const Enumerated all(file, "drawn.op");
        const facts::BoundDefinition bound = facts::bind_test(file, "drawn.op");
        const Footprints footprints(bound);
        for (int draw = 0; draw < 4; ++draw) {
            TileSizes sizes;
            for (const int64_t extent : bound.extents.iterators)
                sizes.push_back(1 + static_cast<int64_t>(random() % static_cast<uint64_t>(extent)));
            for (size_t t = 0; t < file.definition.tensors.size(); ++t) {
                int64_t most = 0;
                std::map<ElementPoints, int64_t> equal;
                ElementPoints together;
                for (const auto& [tile, elements] : touched_by_tiles(all, static_cast<int>(t), sizes)) {
                    most = std::max(most, static_cast<int64_t>(elements.size()));
                    if (!elements.empty()) ++equal[elements];
                    together.insert(elements.begin(), elements.end());
                }
                int64_t sharers = INT64_MAX;
                for (const auto& [elements, count] : equal) sharers = std::min(sharers, count);
                EXPECT_EQ(footprints.elements(t, sizes), most) << file.definition.tensors[t].name;
                EXPECT_EQ(
                    footprints.touched_bytes(t),
                    (static_cast<int64_t>(together.size()) * bits(file.definition.tensors[t].type) + 7) / 8);
                const int64_t claimed = footprints.sharers(t, sizes);
                EXPECT_LE(claimed, sharers) << file.definition.tensors[t].name;
                EXPECT_GE(claimed, 1);
                shared += claimed > 1 && !equal.empty();
                ungrouped += claimed < sharers && !equal.empty();
            }
        }
    }
    EXPECT_GT(shared, 300u);
    // Tiles that touch sets with gaps are said to share nothing, though some do.
    EXPECT_LT(ungrouped, shared);
}

facts::BoundDefinition bound_of(const std::string& text) {
    const Definition definition = parse_definition(text, "test.op");
    return facts::bind_unfilled(definition, {}, "test.op");
}

TEST(Footprints, OfAProductAreProducts) {
    const facts::BoundDefinition bound = bound_of(
        "op product(t: 8, n: 12, k*: 20)\nin X f16[t, k]\nin W f16[n, k]\nout Y f32[t, n] = sum(X * W)\n");
    const Footprints footprints(bound);
    const TileSizes sizes = {4, 3, 10};
    EXPECT_EQ(footprints.elements(0, sizes), 40);
    EXPECT_EQ(footprints.bytes(1, sizes), 60);
    EXPECT_EQ(footprints.bytes(2, sizes), 48);
    EXPECT_EQ(footprints.sharers(0, sizes), 4);
    EXPECT_EQ(footprints.sharers(1, sizes), 2);
    EXPECT_EQ(footprints.sharers(2, sizes), 2);
    EXPECT_TRUE(footprints.uses(0, 2));
    EXPECT_FALSE(footprints.uses(0, 1));
    EXPECT_EQ(footprints.touched_bytes(1), 480);
}

TEST(Footprints, HeadsOfOneGroupShareTheirKeys) {
    const facts::BoundDefinition bound =
        bound_of("op scores(h: 8, e*: 4)\nin Q f32[h, e]\nin K f32[h div 4, e]\nout S f32[h] = sum(Q * K)\n");
    const Footprints footprints(bound);
    EXPECT_EQ(footprints.elements(1, {2, 4}), 4);
    EXPECT_EQ(footprints.sharers(1, {2, 4}), 2);
    EXPECT_EQ(footprints.sharers(1, {1, 4}), 4);
    EXPECT_EQ(footprints.elements(1, {3, 4}), 8);  // heads 3 to 5
    EXPECT_EQ(footprints.sharers(1, {3, 4}), 1);
    EXPECT_EQ(footprints.sharers(1, {2, 2}), 2);
}

TEST(Footprints, ReadsOfOneTensorAreCountedTogether) {
    const facts::BoundDefinition bound =
        bound_of("op rotate(t: 3, d: 8)\nin X f32[t, d]\nout Y f32[t, d] = X[t, d] + X[t, (d + 4) mod 8]\n");
    const Footprints footprints(bound);
    EXPECT_EQ(footprints.elements(0, {1, 2}), 4);
    EXPECT_EQ(footprints.elements(0, {2, 8}), 16);
    EXPECT_EQ(footprints.sharers(0, {1, 4}), 2);  // both halves read everything
}

}  // namespace
}  // namespace tessera::partition
