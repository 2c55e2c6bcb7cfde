#include "nest/nests/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"

namespace tessera::nests {
namespace {

LevelMachine machine() {
    return {
        .levels = {{.name = "memory"}, {.name = "L2", .bandwidth = 1e9}, {.name = "L1", .bandwidth = 4e9}},
        .peak = 1e9};
}

std::string broken_form(const Kernel& kernel, const std::string& nest) {
    const auto parsed = parse_nest(kernel, nest, machine());
    const auto* illegal = std::get_if<Illegal>(&parsed);
    return illegal ? std::string(name(illegal->kind)) + ": " + illegal->reason : "";
}

Nest nest_of(const Kernel& kernel, const std::string& text) {
    return std::get<Nest>(parse_nest(kernel, text, machine()));
}

struct PlacementCase {
    const char* nest;
    const char* reason;
};

class BrokenPlacements : public ::testing::TestWithParam<PlacementCase> {};

TEST_P(BrokenPlacements, SayWhichRule) {
    EXPECT_EQ(broken_form(kernel_of(kProducts), GetParam().nest), std::string("form: ") + GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Of, BrokenPlacements,
    ::testing::Values(
        PlacementCase{"{ load A c e }", "expected `@` before `c e }`"},
        PlacementCase{"{ load A @L3 c e }", "there is no level L3"},
        PlacementCase{"{ load A @? c e }", "there is no level ?"},
        PlacementCase{"m:? { c e }", "the size of the loop over m is open"},
        PlacementCase{"{ load X @L2 c e }", "there is no tensor X"},
        PlacementCase{"{ load A @L2 load A @L2 c e }", "load A stands twice at one level"},
        PlacementCase{"{ load A @memory c e }",
                      "load A cannot stand: the tensor lives at this level or inside of it"},
        PlacementCase{"{ c load C @L1 e }",
                      "load C cannot stand: the tensor lives at this level or inside of it"},
        PlacementCase{"{ c load A @L2 e }", "load A has to stand before c, in a brace around it"},
        PlacementCase{"{ { load D @L2 c } e }", "load D has to stand before e, in a brace around it"},
        PlacementCase{"{ keep C @memory load C @L2 c e }", "load C stands before the tensor is made"},
        PlacementCase{"{ load A @L1 load A @L2 c e }",
                      "load A stands before the load into a level outside of it"},
        PlacementCase{"{ c e load E @L2 }", "load E cannot stand: no operator reads it"},
        PlacementCase{"{ store A @L2 c e }", "store A cannot stand: no operator makes it"},
        PlacementCase{"{ store E @L2 c e }",
                      "store E has to stand behind the operator that makes it, in a brace "
                      "around that"},
        PlacementCase{"{ keep C @memory c store C @L2 e }",
                      "store C stands in a brace in which the tensor is read"},
        PlacementCase{"{ c { e } store E @L2 store E @L1 }",
                      "store E stands behind the store into a level outside of it"},
        PlacementCase{"{ keep A @L2 c e }",
                      "keep A cannot stand: it is no result that passes between operators"},
        PlacementCase{"{ keep E @L2 c e }",
                      "keep E cannot stand: it is no result that passes between operators"},
        PlacementCase{"{ keep C @L2 keep C @L1 c e }", "C is kept twice"},
        PlacementCase{"{ { keep C @L2 c } e }",
                      "keep C has to stand before all that make and read it, in one "
                      "brace around them"}));

TEST(Placements, SayWhereTensorsLive) {
    const Kernel kernel = kernel_of(kProducts);
    const Nest nest = nest_of(kernel, "{ keep C @memory { c store C @L2 } load C @L2 e }");
    const int c = kernel.find_tensor("C");
    EXPECT_EQ(nest.home[static_cast<size_t>(c)], 0);
    EXPECT_EQ(source_of(nest, c, 1), 0);
    EXPECT_EQ(source_of(nest, c, 2), 1);
    EXPECT_EQ(levels_on_the_way_home(nest, c, 2), (std::vector<int>{1, 2}));
    EXPECT_EQ(levels_on_the_way_home(nest, kernel.find_tensor("E"), 2), std::vector<int>{2});
    const Nest inside = nest_of(kernel, "{ c e }");
    EXPECT_EQ(inside.home[static_cast<size_t>(c)], 2);
    EXPECT_THAT(levels_on_the_way_home(inside, c, 2), ::testing::IsEmpty());
}

TEST(Placements, PrintAsTheyWereWritten) {
    const Kernel kernel = kernel_of(kProducts);
    const std::string text = "m:8 { keep C @L2; load D @L1; { n:4 { c }; store C @L1 }; e; store E @L2 }";
    const LevelMachine levels = machine();
    EXPECT_EQ(print(written(kernel, nest_of(kernel, text), &levels)), text);
}

}  // namespace
}  // namespace tessera::nests
