#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "ir/random_parts.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string map_to(const std::string& op, const std::string& result, const std::string& tail = "") {
    return "op f(" + op + ")\nin X f32[0]\nout Y f32" + result + " = X\n" + tail + "test\n";
}

// Maps that no single argument covers are proven or refuted all the same.
TEST(BoundCheck, StoresThatNeverMeetAreAccepted) {
    EXPECT_EQ(error_of(map_to("a: 6, b: 4", "[a * 4 + b]")), "");
    EXPECT_EQ(error_of(map_to("a: 6, b: 4", "[10 * a - 2 * b] of [60]")),
              "case.op:3: `Y`: is written at -6 along axis 0, outside of its shape [60]");
    EXPECT_EQ(error_of(map_to("a: 6, b: 4", "[10 * a - 2 * b + 6]")), "");
    EXPECT_EQ(error_of(map_to("a: 12", "[a div 5, a mod 5]")), "");
    EXPECT_EQ(error_of(map_to("a: 12, b: 3", "[(a + b) div 5, (a + b) mod 5, b]")), "");
    EXPECT_EQ(error_of(map_to("a: 12, b: 3", "[a + b, b]")), "");
    EXPECT_EQ(error_of(map_to("a: 5, b: 5", "[a + b, 4 + a - b]")), "");
    EXPECT_EQ(error_of(map_to("a: 12", "[(5 * a) mod 12]")), "");
    EXPECT_EQ(error_of(map_to("a: 12", "[a div 2 * 2 + 1 - a mod 2]")), "");
    EXPECT_EQ(error_of(map_to("a: 12", "[a div 2]", "where a mod 2 == 1\n")), "");
    EXPECT_EQ(error_of(map_to("a: 1, b: 1", "[a + b]")), "");
}

TEST(BoundCheck, WritesThatThePredicateKeepsInRangeAreAccepted) {
    EXPECT_EQ(error_of(map_to("a: 9", "[a - 2] of [5]", "where 2 <= a and a < 7\n")), "");
    EXPECT_EQ(
        error_of(map_to("a: 9, b: 100000000", "[a - 2, b] of [5, 100000000]", "where 2 <= a and a < 7\n")),
        "");
    EXPECT_NE(error_of(map_to("a: 9", "[a - 2] of [5]", "where 2 <= a and a <= 7\n")), "");
}

// The verdict agrees with the interpreter, which stores and sees.
TEST(BoundCheck, AgreesWithTheInterpreterOnRandomMaps) {
    Dice dice(5);
    int sound = 0;
    int unsound = 0;
    for (int n = 0; n < 2000; ++n) {
        std::vector<DrawnIterator> iterators;
        for (const char* iterator : {"a", "b", "c"}) {
            const int64_t extent = dice.between(1, 7);
            iterators.push_back({iterator, std::to_string(extent), extent});
        }
        std::string map;
        for (const DrawnIterator& iterator : iterators) {
            const DrawnComponent component =
                dice.chance(40) ? DrawnComponent{iterator.name, 0, 0} : draw_component(dice, iterators);
            map += (map.empty() ? "" : ", ") + component.text;
        }
        // A last axis that lets the parallel iterators be used.
        map += fmt::format(", (a + b + c) div {}", dice.between(1, 30));
        const std::string predicate =
            dice.chance(30) ? "where " + draw_predicate(dice, iterators, {}) + "\n" : "";
        const std::string text =
            fmt::format("op f(a: {}, b: {}, c: {})\nin X f32[0]\nout Y f32[{}] of [{}, {}, {}, 30] = X\n{}",
                        iterators[0].extent, iterators[1].extent, iterators[2].extent, map,
                        dice.between(4, 20), dice.between(4, 20), dice.between(4, 20), predicate);
        const DefinitionFile file = parse_definition_file(text, "map");
        const BoundExtents extents = bound_extents(file, "map");
        const auto is_accepted = [&](auto&& run) {
            try {
                run();
            } catch (const Error&) {
                return false;
            }
            return true;
        };
        const bool is_checked = is_accepted([&] { check_bound(file, extents, "map"); });
        const bool is_run = is_accepted(
            [&] { interpret(file.definition, extents, test_contents(file, extents, "map"), "map"); });
        ASSERT_EQ(is_checked, is_run) << text;
        (is_run ? sound : unsound)++;
    }
    EXPECT_GT(sound, 200);
    EXPECT_GT(unsound, 200);
}

}  // namespace
}  // namespace tessera
