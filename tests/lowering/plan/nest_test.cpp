#include "lowering/plan/nest.h"

#include <random>

#include <gtest/gtest.h>

#include "lowering/plan/toy_kernels.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

std::string error_of_nest(const std::string& text) {
    try {
        (void)parse_nest(text, "plan.toml:7", testing::kToyKernels);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Nest, OneOperatorWithoutLoops) {
    const Nest nest = parse_nest("y[loops]", "", testing::kToyKernels);
    EXPECT_TRUE(nest.loops.empty());
    EXPECT_EQ(nest.root(), Leaf("y", testing::kLoops));
    EXPECT_EQ(print(nest), "y[loops]");
}

TEST(Nest, AttentionAsInTheHeader) {
    const std::string text =
        "b:1 i:8 h:1 { gather[loops x=e]; s:16 { scores[sum k=e rows=1 x=s]; attend[loops x=e] }; "
        "normalise[loops x=d] }";
    const Nest nest = parse_nest(text, "", testing::kToyKernels);
    EXPECT_EQ(nest.loops, (std::vector<LoopTile>{{"b", 1}, {"i", 8}, {"h", 1}}));
    ASSERT_EQ(nest.items.size(), 3U);
    const Nest& inner = std::get<Nest>(nest.items[1]);
    EXPECT_EQ(inner.root(), Leaf("attend", testing::kLoops).set(testing::kToyX, "e"));
    EXPECT_EQ(nest.root().node, "normalise");
    std::vector<std::string> order;
    for (const Leaf* leaf : leaves(nest)) order.push_back(leaf->node);
    EXPECT_EQ(order, (std::vector<std::string>{"gather", "scores", "attend", "normalise"}));
    EXPECT_EQ(print(nest), text);
}

TEST(Nest, SpaceAndBracesThatSayNothing) {
    const Nest nest = parse_nest("x:8 { a[loops]; b[loops] }", "", testing::kToyKernels);
    EXPECT_EQ(parse_nest("  x:8{a[loops];b[ loops ]}  ", "", testing::kToyKernels), nest);
    EXPECT_EQ(parse_nest("{ x:8 { { a[loops] }; { b[loops] } } }", "", testing::kToyKernels), nest);
    EXPECT_EQ(parse_nest("x : 8 { { { a[loops]; b[loops] } } }", "", testing::kToyKernels), nest);
}

TEST(Nest, LoopsInLoopsAreOneListOfLoops) {
    EXPECT_EQ(parse_nest("x:8 { y:2 { a[loops] } }", "", testing::kToyKernels),
              parse_nest("x:8 y:2 { a[loops] }", "", testing::kToyKernels));
}

TEST(Nest, WhatIsNoTilingExpressionIsNamedWithItsPosition) {
    const std::string advice = " (a nest reads `x:8 y:1 { producer[kernel key=value]; root[kernel] }`)";
    const auto expected = [&](const std::string& text, const std::string& problem) {
        EXPECT_EQ(error_of_nest(text), "plan.toml:7: `" + text + "`: " + problem + advice);
    };
    EXPECT_EQ(error_of_nest(""), "plan.toml:7: expected an operator in each pair of braces" + advice);
    expected("a", "expected [micro-kernel] behind a");
    expected("a[]", "expected a micro-kernel before `]`, at position 3");
    expected("a[loops", "expected a parameter or `]` before `the end`, at position 8");
    expected("a[loops x]", "expected `=` before `]`, at position 10");
    expected("a[loops x=]", "expected a value before `]`, at position 11");
    expected("a[loops x=n x=t]", "x is given twice, at position 13");
    expected("x:8 a[loops]", "expected `:` before `[ loops ]`, at position 6");
    expected("x:0 { a[loops] }", "a tile of x is empty, at position 3");
    expected("x:-1 { a[loops] }", "expected the size of a tile before `-1 { a [ loops ]`, at position 3");
    expected("x:8k { a[loops] }", "expected the size of a tile before `8k { a [ loops ]`, at position 3");
    expected("x:? { a[loops] }", "the tile of x is open, expected its size");
    expected("x:4@unit { a[loops] }", "the loop over x has @unit, expected @worker or neither");
    expected("x:8 { a[loops]", "expected an operator or `}` before `the end`, at position 15");
    expected("x:8 { }", "expected an operator in each pair of braces");
    expected("a[loops] }", "expected the end before `}`, at position 10");
}

TEST(Nest, MicroKernelsAndParametersAreThoseOfTheList) {
    const auto expected = [](const std::string& text, const std::string& problem) {
        EXPECT_EQ(error_of_nest(text), "plan.toml:7: " + problem);
    };
    expected("y[gemm]", "`y`: gemm is no micro-kernel");
    expected("y[loops rows=4]", "`y`: rows is no parameter of micro-kernel loops");
    expected("y[loops lanes=4x x=n]", "y: `lanes`: is 4x, expected a number from 1 to 64");
    expected("y[loops lanes=3 x=n]", "y: `lanes`: is 3, expected a power of two");
    expected("y[loops lanes=128 x=n]", "y: `lanes`: is 128, expected a number from 1 to 64");
    expected("y[sum k=k rows=0]", "y: `rows`: is 0, expected a number from 1 to 12");
    expected("y[sum k=k ahead=12]", "y: `ahead`: is 12, expected a multiple of 8");
    expected("y[sum k=k rows=99999999999999999999]",
             "y: `rows`: is 99999999999999999999, expected a number from 1 to 12");
}

TEST(Nest, DefaultsAreLeftOut) {
    const auto printed = [](const std::string& text) {
        return print(parse_nest(text, "test", testing::kToyKernels));
    };
    EXPECT_EQ(printed("y[loops lanes=1]"), "y[loops]");
    EXPECT_EQ(printed("y[sum ahead=0 k=k lanes=1]"), "y[sum k=k rows=1]") << "rows are stated";
    EXPECT_EQ(printed("y[sum rows=2 lanes=4 k=k ahead=8]"), "y[sum ahead=8 k=k lanes=4 rows=2]");
}

TEST(Nest, LoadsAreMovesWhichThePlanMakesOperators) {
    int64_t loads = 1;
    const NestWithLoads nest = parse_nest_with_loads("x:4 { load B as order [1, 0] lanes <0:16>; load C; y }",
                                                     "", testing::kToyKernels, loads);
    EXPECT_EQ(loads, 3);
    const auto& load = std::get<Load>(nest.items[0]);
    EXPECT_EQ(load.of, "B");
    EXPECT_EQ(load.copy, "B_load2");
    EXPECT_EQ(tessera::print(load.layout), "order [1, 0] lanes <0:16>");
    EXPECT_TRUE(std::get<Load>(nest.items[1]).layout.is_row_major());
    EXPECT_EQ(print(without_loads(nest)), "x:4 { y[?] }");
    EXPECT_EQ(print(with_copies(nest)), "x:4 { copy_B_load2[?]; copy_C_load3[?]; y[?] }");
    // An operator may have that name.
    EXPECT_EQ(leaves(parse_open_nest("load; y", "", testing::kToyKernels)).front()->node, "load");
    EXPECT_THROW((void)parse_open_nest("load B; y", "", testing::kToyKernels), Error);
}

TEST(Nest, DeepNestingIsRefused) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "x:1 { ";
    EXPECT_EQ(error_of_nest(text), "plan.toml:7: `nest`: has more than 65536 words");
}

Nest random_nest(std::mt19937_64& random, int depth) {
    const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<uint64_t>(count)); };
    const auto leaf = [&] {
        const MicroKernel& kernel = *testing::kToyKernels[static_cast<size_t>(pick(2))];
        Leaf made(fmt::format("node_{}", pick(9)), kernel);
        for (const Parameter& parameter : kernel.parameters) {
            if (pick(2) == 0) continue;
            if (parameter.is_iterator()) {
                made.set(parameter, fmt::format("x{}", pick(5)));
            } else {
                made.set(parameter, 8);
            }
        }
        return made;
    };
    // The normal form: a nest has loops, save the outermost, and several children where an only one would be
    // a nest.
    Nest nest;
    for (int l = depth == 0 ? pick(3) : 1 + pick(2); l > 0; --l)
        nest.loops.push_back({fmt::format("x{}", pick(5)), 1 + pick(64)});
    nest.items.emplace_back(leaf());
    for (int c = pick(3); c > 0; --c) {
        if (depth < 3 && pick(2) == 0) {
            nest.items.emplace_back(random_nest(random, depth + 1));
        } else {
            nest.items.emplace_back(leaf());
        }
    }
    return nest;
}

TEST(Nest, WhatIsPrintedParsesBack) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 500; ++i) {
        const Nest nest = random_nest(random, 0);
        EXPECT_EQ(parse_nest(print(nest), "", testing::kToyKernels), nest) << print(nest);
    }
}

TEST(Nest, DamagedTextsAreErrorsOrPrintAsTheyRead) {
    std::mt19937_64 random(6);
    const std::string alphabet = "ab:18 {}[];=-_.\n\"";
    int parsed = 0;
    for (int i = 0; i < 5000; ++i) {
        std::string text = print(random_nest(random, 0));
        for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
            const size_t at = random() % (text.size() + 1);
            if (random() % 2 == 0 && at < text.size()) {
                text.erase(at, 1 + random() % 3);
            } else {
                text.insert(at, 1, alphabet[random() % alphabet.size()]);
            }
        }
        try {
            const Nest nest = parse_nest(text, "", testing::kToyKernels);
            EXPECT_EQ(parse_nest(print(nest), "", testing::kToyKernels), nest) << text;
            ++parsed;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(parsed, 100);
    EXPECT_LT(parsed, 4900);
}

}  // namespace
}  // namespace tessera::plan
