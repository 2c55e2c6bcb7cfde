#include "nest/nest_text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::nest {
namespace {

std::string problem_of(const std::string& text, Moves moves = Moves::kNone) {
    try {
        (void)parse_nest(text, "test", moves);
    } catch (const BrokenForm& broken) {
        return fmt::format("{}: {}", broken.position, broken.what());
    }
    return "none";
}

std::vector<std::string> names_of(const WrittenNest& nest) {
    std::vector<std::string> names;
    nest.for_each_operator([&](const WrittenOperator& op) { names.push_back(op.name); });
    return names;
}

TEST(NestText, LoopsOperatorsAndBraces) {
    const WrittenNest all =
        parse_nest("b:1@worker i:? { a; { c.d-e } s:16@unit { k[dot n=4 x=s] } } last", "test", Moves::kNone);
    ASSERT_EQ(all.items.size(), 2U);
    EXPECT_TRUE(all.loops.empty());
    EXPECT_EQ(all.root().name, "last");
    EXPECT_EQ(names_of(all), (std::vector<std::string>{"a", "c.d-e", "k", "last"}));
    const auto& outer = std::get<WrittenNest>(all.items.front());
    EXPECT_EQ(outer.loops,
              (std::vector<WrittenNest::Loop>{{"b", 1, Bind::kWorker}, {"i", kOpenTile, Bind::kSerial}}));
    EXPECT_EQ(outer.root(), (WrittenOperator{"k", WrittenKernel{"dot", {{"n", "4"}, {"x", "s"}}}}));
    EXPECT_EQ(std::get<WrittenNest>(outer.items.back()).loops.front().bind, Bind::kUnit);
    EXPECT_EQ(parse_braces("{ ;a;; b; }", "test", Moves::kNone).items.size(), 2U);
    EXPECT_TRUE(parse_nest(" ", "test", Moves::kNone).items.empty());
}

TEST(NestText, MovesAreThoseThatTheTextMayHave) {
    const auto move = [](const std::string& text, Moves moves) {
        return std::get<WrittenMove>(parse_nest(text, "test", moves).items.front());
    };
    EXPECT_EQ(move("load B", Moves::kLoads), (WrittenMove{MoveKind::kLoad, "B"}));
    EXPECT_EQ(move("load B as order [1, 0]  lanes <0:16> ; y", Moves::kLoads),
              (WrittenMove{MoveKind::kLoad, "B", "", "order [1, 0]  lanes <0:16>"}));
    EXPECT_EQ(move("keep B @?", Moves::kLevels), (WrittenMove{MoveKind::kKeep, "B", "?"}));
    EXPECT_EQ(move("store B @2nd", Moves::kLevels), (WrittenMove{MoveKind::kStore, "B", "2nd"}));
    EXPECT_EQ(names_of(parse_nest("load B", "test", Moves::kNone)), (std::vector<std::string>{"load", "B"}));
    EXPECT_EQ(names_of(parse_nest("load; store B", "test", Moves::kLoads)),
              (std::vector<std::string>{"load", "store", "B"}));
    EXPECT_EQ(problem_of("load B", Moves::kLevels), "7: expected `@` before `the end`");
    EXPECT_EQ(problem_of("load B as }", Moves::kLoads), "11: expected a layout before `}`");
}

TEST(NestText, TheRootIsTheLastOperatorBehindMoves) {
    EXPECT_EQ(parse_nest("a; { b; store X @L } store Y @L", "test", Moves::kLevels).root().name, "b");
}

TEST(NestText, ProblemsHaveTheirPosition) {
    EXPECT_EQ(problem_of("m:4 @unit { a }"), "none");
    EXPECT_EQ(problem_of("m:4@ unit { a }"), "4: expected `@worker`, `@unit` or `{` before `@ unit { a }`");
    EXPECT_EQ(problem_of("m:4 n { a }"), "7: expected `:` before `{ a }`");
    EXPECT_EQ(problem_of("m:0 { a }"), "3: a tile of m is empty");
    EXPECT_EQ(problem_of("{ a"), "4: expected an operator or `}` before `the end`");
    EXPECT_EQ(problem_of("a }"), "3: expected the end before `}`");
    EXPECT_EQ(problem_of("a[b c=1 c=2]"), "9: c is given twice");
    EXPECT_EQ(problem_of("\x1b"), "1: expected an operator or `}` before `\\x1b`");
    EXPECT_THROW((void)parse_braces("a", "test", Moves::kNone), BrokenForm);
}

TEST(NestText, SizesAreLimited) {
    const auto loop = [](const std::string& size) {
        return parse_braces("m:" + size + " { a }", "test", Moves::kNone).loops.front().tile;
    };
    EXPECT_EQ(loop("9223372036854775807"), std::numeric_limits<int64_t>::max());
    EXPECT_EQ(loop("99999999999999999999999"), std::numeric_limits<int64_t>::max());
    std::string deep, closed;
    for (int i = 0; i < 129; ++i) deep += "{ ", closed += " }";
    EXPECT_THROW((void)parse_nest(deep + "a" + closed, "test", Moves::kNone), Error);
    EXPECT_THROW((void)parse_nest(std::string(70000, ';'), "test", Moves::kNone), Error);
}

TEST(NestText, TranslationKeepsLoopsAndOrder) {
    using Numbered = Nest<int, int>;
    const Numbered nest{{{1, 8, Bind::kWorker}}, {0, Numbered{{{0, 2}}, {1, 2}}, 3}};
    EXPECT_EQ(nest.operators(), (std::vector<int>{0, 1, 2, 3}));
    using Named = Nest<std::string, std::string>;
    const auto named = translated<Named>(
        nest,
        [](const Numbered& around, const Numbered::Loop& at) {
            return fmt::format("{}of{}", at.iterator, around.root());
        },
        [](int op) { return std::to_string(op); });
    EXPECT_EQ(named, (Named{{{"1of3", 8, Bind::kWorker}}, {"0", Named{{{"0of2", 2}}, {"1", "2"}}, "3"}}));
}

}  // namespace
}  // namespace tessera::nest
