#include "nest/nests/space.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
#include "nest/nests/random_nest.h"
#include "nest/nests/space_cost.h"
#include "nest/nests/space_nest.h"
#include "nest/nests/space_search.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEnd = "multiple 4\ncapacity 900\nmachine bandwidth 1e9 peak 1e10 units 2\n";

Space space_of(const std::string& text) {
    return make_space(read_kernel_file(text, "t.space"));
}

std::string space_error(const std::string& text) {
    try {
        (void)space_of(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// Calls visit(tiles, trips) for each choice of sizes.
template <class Visit>
void for_each_tiling(const Space& space, Visit&& visit) {
    std::vector<size_t> tiled = space.loops;
    tiled.push_back(space.k);
    std::vector<int64_t> tiles(space.extents.size(), 1);
    const auto go = [&](const auto& self, size_t position) -> void {
        if (position == tiled.size()) {
            std::vector<int64_t> trips;
            for (size_t x = 0; x < tiles.size(); ++x) trips.push_back((space.extents[x] - 1) / tiles[x] + 1);
            return visit(tiles, trips);
        }
        for (const int64_t size : space.sizes(tiled[position])) {
            tiles[tiled[position]] = size;
            self(self, position + 1);
        }
    };
    go(go, 0);
}

// Every candidate of random spaces: the closed form against the walk.
TEST(Spaces, HaveTheCostsOfTheWalk) {
    int legal = 0;
    int illegal = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        const std::string text = random_space_text(seed);
        SCOPED_TRACE(text);
        const Space space = space_of(text);
        for (const Structure& structure : structures(space)) {
            const StructureCost cost(space, structure);
            for_each_tiling(space, [&](const std::vector<int64_t>& tiles, const std::vector<int64_t>& trips) {
                const std::string nest = print(written_nest(space, structure, tiles));
                const auto parsed = parse_nest(space.kernel, nest);
                ASSERT_TRUE(std::holds_alternative<Nest>(parsed)) << nest;
                const Verdict verdict = derive_facts(space.kernel, std::get<Nest>(parsed), space.machine);
                const SpaceCost closed = cost.at(trips);
                ASSERT_EQ(closed.is_legal, std::holds_alternative<NestFacts>(verdict)) << nest;
                ++(closed.is_legal ? legal : illegal);
                if (!closed.is_legal) return;
                const NestFacts& facts = std::get<NestFacts>(verdict);
                ASSERT_EQ(closed.bytes, facts.bytes) << nest;
                ASSERT_EQ(closed.flops, facts.flops) << nest;
                ASSERT_EQ(closed.units, facts.units) << nest;
                ASSERT_EQ(cost.footprint(tiles), facts.footprint) << nest;
                const auto placed = place_in_space(space, std::get<Nest>(parsed));
                ASSERT_TRUE(placed) << nest;
                ASSERT_EQ(*placed, (SpaceNest{structure, tiles})) << nest;
            });
        }
    }
    EXPECT_GE(legal, 10000);
    EXPECT_GE(illegal, 300);
}

TEST(Spaces, NestsHaveTheFactsOfTheWalk) {
    int closed = 0, walked = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const Space space = space_of(random_space_text(seed));
        SpaceFactsOf facts_of(space);
        const auto compare = [&](const std::string& nest) {
            const Verdict verdict = facts_of(nest);
            const auto parsed = parse_nest(space.kernel, nest);
            const Verdict walk = derive_facts(space.kernel, std::get<Nest>(parsed), space.machine);
            ASSERT_EQ(verdict.index(), walk.index()) << nest;
            if (std::holds_alternative<Illegal>(verdict)) return;
            const NestFacts &found = std::get<NestFacts>(verdict), &want = std::get<NestFacts>(walk);
            ASSERT_EQ(found.model, want.model) << nest;
            ASSERT_EQ(found.footprint, want.footprint) << nest;
            ++(found.operators.empty() ? closed : walked);
        };
        for (const Structure& structure : structures(space)) {
            std::vector<int64_t> tiles(space.extents.size(), 1);
            for (size_t x = 0; x < tiles.size(); ++x)
                if (std::ranges::find(space.batch, x) == space.batch.end())
                    tiles[x] = space.sizes(x)[(seed + x) % space.sizes(x).size()];
            std::string nest = print(written_nest(space, structure, tiles));
            compare(nest);
            // Without units it is another nest, which has no closed form here.
            while (nest.find("@unit") != std::string::npos) nest.erase(nest.find("@unit"), 5);
            compare(nest);
        }
    }
    EXPECT_GE(closed, 100);
    EXPECT_GE(walked, 20);
}

// The search against all candidates, one after the other.
TEST(Spaces, AreSearchedExactly) {
    constexpr double kNothing = std::numeric_limits<double>::infinity();
    int empty = 0;
    for (uint64_t seed = 100; seed < 300; ++seed) {
        const std::string text = random_space_text(seed);
        SCOPED_TRACE(text);
        const Space space = space_of(text);
        int64_t tilings = 0;
        int64_t feasible = 0;
        double best = kNothing;
        double deep = kNothing;
        double chimera = kNothing;
        for (const Structure& structure : structures(space)) {
            const StructureCost cost(space, structure);
            const StructureCost unhoisted(space, structure, Hoisting::kUnusedLoops);
            for_each_tiling(space, [&](const std::vector<int64_t>& tiles, const std::vector<int64_t>& trips) {
                ++tilings;
                const SpaceCost here = cost.at(trips);
                if (!here.is_legal || cost.footprint(tiles) > space.capacity) return;
                ++feasible;
                const auto priced = [&](const SpaceCost& moved) {
                    return machine::mcfuser_times(moved.bytes, moved.flops, moved.units, space.machine)
                        .estimate;
                };
                best = std::min(best, priced(here));
                if (!structure.is_deep()) return;
                deep = std::min(deep, priced(here));
                chimera = std::min(chimera, priced(unhoisted.at(trips)));
            });
        }
        const SpaceFacts facts = search(space);
        EXPECT_EQ(facts.candidates, tilings);
        EXPECT_EQ(facts.candidates, facts.structures * facts.tiles);
        EXPECT_EQ(facts.feasible, feasible);
        EXPECT_EQ(facts.best ? facts.best->estimate : kNothing, best);
        EXPECT_EQ(facts.best_deep ? facts.best_deep->estimate : kNothing, deep);
        EXPECT_EQ(facts.best_chimera ? facts.best_chimera->estimate : kNothing, chimera);
        empty += !facts.best;
        if (!facts.best) continue;
        const auto nest = parse_nest(space.kernel, facts.best->nest);
        const auto verdict = derive_facts(space.kernel, std::get<Nest>(nest), space.machine);
        EXPECT_EQ(std::get<NestFacts>(verdict).model->estimate, best) << facts.best->nest;
    }
    EXPECT_GE(empty, 5);
    EXPECT_LE(empty, 150);
}

TEST(Spaces, WriteTheirNests) {
    const Space space = space_of(std::string(kProducts) + kEnd);
    const std::vector<Structure> all = structures(space);
    EXPECT_EQ(all.size(), 24U);
    const std::vector<int64_t> tiles = {8, 4, 12, 6};  // m h n k
    EXPECT_EQ(print(written_nest(space, all[0], tiles)), "{ k:6 { c }; m:8 h:4 n:12 { e } }");
    EXPECT_EQ(print(written_nest(space, all[2], tiles)), "m:8@unit h:4@unit { k:6 { c }; n:12 { e } }");
    EXPECT_EQ(print(written_nest(space, all[3], tiles)), "m:8@unit h:4@unit n:12 { k:6 { c }; e }");
    EXPECT_EQ(print(written_nest(space, {{0, 2, 1}, 3}, tiles)), "m:8@unit n:12 h:4 { k:6 { c }; e }");
    EXPECT_EQ(space.sizes(0), (std::vector<int64_t>{4, 8, 12, 16, 20}));
    EXPECT_EQ(space.sizes(2), (std::vector<int64_t>{4, 8, 12, 16, 18}));
}

TEST(Spaces, AreChains) {
    const std::string first =
        "op c(m: 8, n: 8, k*: 8)\nin A f32[m, k], B f32[k, n]\nout C f32[m, n] = sum(A * B)\n";
    const std::string products(kProducts);
    EXPECT_EQ(space_error(products + kEnd), "");
    EXPECT_THAT(space_error(products), HasSubstr("is no space: it lacks"));
    EXPECT_THAT(space_error(products + "multiple 0\ncapacity 1\nmachine bandwidth 1 peak 1 units 1\n"),
                HasSubstr("`multiple`: is 0"));
    EXPECT_THAT(space_error(products + kEnd + "nest { c e }"), HasSubstr("`nest`: has no place in a space"));
    EXPECT_THAT(space_error(products + "visible C\n" + kEnd), HasSubstr("`visible`: has no place"));
    EXPECT_THAT(space_error(first + kEnd), HasSubstr("holds one operator"));
    EXPECT_THAT(space_error(products + "batch n\n" + kEnd), HasSubstr("`n`: is in the batch"));
    EXPECT_THAT(space_error(products + "batch m m\n" + kEnd), HasSubstr("`m`: is in the batch"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n: 8)\nin C f32[m, n], D f32[n, h]\n"
                            "out E f32[m, h, n] = C * D\n" +
                            kEnd),
                HasSubstr("`e`: has not one reduction iterator"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n*: 8)\nin C f32[n, m], D f32[n, h]\n"
                            "out E f32[m, h] = sum(C * D * C[m, n])\n" +
                            kEnd),
                HasSubstr("`C`: is read by e in two ways"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n*: 8)\nin C f32[7 - m, n], D f32[n, h]\n"
                            "out E f32[m, h] = sum(C * D)\n" +
                            kEnd),
                HasSubstr("`C`: has the axis `7 - m`"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n*: 8)\nin C f32[m, n], D f32[n, h div 2]\n"
                            "out E f32[m, h] = sum(C * D)\n" +
                            kEnd),
                HasSubstr("or one of the batch divided by a constant"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n*: 8)\nin C f32[m, n], D i4[n, h]\n"
                            "out E f32[m, h] = sum(C * D)\n" +
                            kEnd),
                HasSubstr("`D`: holds i4"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 8, h: 4, n*: 8)\nin C f32[m, n], D f32[n, h] of [5, 4]\n"
                            "out E f32[m, h] = sum(C * D)\n" +
                            kEnd),
                HasSubstr("`D`: ends before its iterator does along axis 0"));
    EXPECT_THAT(space_error(first +
                            "op e(m: 6, h: 4, n*: 8)\nin C f32[m, n] of [8, 8], D f32[n, h]\n"
                            "out E f32[m, h] = sum(C * D)\n" +
                            kEnd),
                HasSubstr("`C`: is not read as it is made along axis 0"));
}

TEST(Spaces, HaveBoundedWork) {
    const Space space = space_of(std::string(kProducts) + kEnd);
    EXPECT_THROW((void)search(space, {.steps = 10}), Error);
    EXPECT_THAT(space_error("op c(m: 1000000, n: 1000000, k*: 8)\nin A f32[m, k], B f32[k, n]\n"
                            "out C f32[m, n] = sum(A * B)\nop e(m: 1000000, h: 4, n*: 1000000)\n"
                            "in C f32[m, n], D f32[n, h]\nout E f32[m, h] = sum(C * D)\n" +
                            std::string(kEnd)),
                HasSubstr("`m`: has more than 65536 tile sizes"));
}

}  // namespace
}  // namespace tessera::nests
