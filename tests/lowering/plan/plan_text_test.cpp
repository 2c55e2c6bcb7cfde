#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowering/plan/plan.h"
#include "lowering/plan/toy_kernels.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

Plan example() {
    SpecialisationPlan s;
    s.name = "prefill";
    s.bounds = {{"P", {1, 64}}, {"T", {1, 512}}};
    s.tensors["arena"] = {Place::kArena, {}, 128, 4096, {}};
    s.tensors["packed"] = {Place::kArena, {}, 4224, 64, {{1, 0}, {{1, 16}, {0, 2}}}};
    s.tensors["fresh"] = {Place::kArena, {}, {}, 0, {{0, 1}, {}}};
    s.tensors["tile"] = {Place::kTile, {}, 0, 64, {}};
    s.tensors["own"] = {Place::kArena, {}, 4288, 128, {{1, 0}, {}}, true};
    s.tensors["view"] = {Place::kView, "arena", {}, 0, {}};
    s.tensors["replaced"] = {Place::kInPlace, "view", {}, 0, {}};
    s.kernels.push_back(
        {"layer", parse_nest("t:1 { tile[loops lanes=16 x=d]; arena[loops] }", "", testing::kToyKernels)});
    s.kernels.push_back(
        {"last", parse_nest("out[sum ahead=8 k=k lanes=16 rows=8 x=n]", "", testing::kToyKernels)});
    s.kernels.push_back(
        {"last", parse_nest("n:48@worker n:16 { more[loops] }", "", testing::kToyKernels), true});
    s.kernels.push_back({"last", parse_nest("rest[loops]", "", testing::kToyKernels), true, true});
    s.arena_bytes = 8192;
    s.max_live_bytes = 8000;
    SpecialisationPlan decode = s;
    decode.name = "decode";
    decode.bounds["T"] = {1, 1};
    decode.kernels.clear();
    decode.tensors.clear();
    return {.graph = "a \"model\"\nof 'two' lines",
            .machine = "avx512",
            .workers = 2,
            .stored = {{"w", {{}, {{0, 16}}}}, {"rows", {}}},
            .copies = {{"packed", {"arena", {{"more", "X"}, {"rest", "A"}}}},
                       {"fresh", {"tile", {}, true}},
                       {"own", {"view", {{"out", "B"}}, true}}},
            .specialisations = {decode, s}};
}

std::string error_of_plan(const std::string& text) {
    try {
        (void)parse_plan(text, "plan.toml", testing::kToyKernels);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

/// The example's text with one piece replaced.
std::string edited(const std::string& piece, const std::string& by) {
    std::string text = print(example());
    const size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece << "\n" << text;
    return at == std::string::npos ? text : text.replace(at, piece.size(), by);
}

TEST(PlanText, WhatIsPrintedParsesBack) {
    const Plan plan = example();
    EXPECT_TRUE(parse_plan(print(plan), "plan.toml", testing::kToyKernels) == plan) << print(plan);
    EXPECT_EQ(print(parse_plan(print(plan), "plan.toml", testing::kToyKernels)), print(plan));
}

TEST(PlanText, AnyNameOfAModelIsOneLine) {
    Plan plan = example();
    const std::string before = print(plan);
    std::vector<std::string> names = {"", "'", "'''", "\"\"\"", "\\", "a\nworkers = 7", "\r\n", "\xc3\xbc"};
    names.emplace_back();
    for (int byte = 0; byte < 128; ++byte) names.back() += static_cast<char>(byte);
    for (const std::string& name : names) {
        plan.graph = name;
        const std::string text = print(plan);
        EXPECT_EQ(parse_plan(text, "plan.toml", testing::kToyKernels).graph, name) << text;
        EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(before, '\n')) << text;
    }
}

TEST(PlanText, TensorsAndKernelsAreOneLineEach) {
    const std::string text = print(example());
    for (const char* line :
         {"\n'arena' = 'arena at 128 for 4096'\n",
          "\n'packed' = 'arena at 4224 for 64, order [1, 0] lanes <1:16, 0:2>'\n",
          "\n'fresh' = 'arena, order [0, 1]'\n", "\n'tile' = 'tile at 0 for 64'\n",
          "\n'view' = 'view of arena'\n", "\n'replaced' = 'in place of view'\n", "\n'w' = 'lanes <0:16>'\n",
          "\n'rows' = 'row-major'\n",
          "\n    { block = 'layer', nest = 't:1 { tile[loops lanes=16 x=d]; arena[loops] }' },\n",
          "\n    { block = 'last', barrier = true, nest = 'n:48@worker n:16 { more[loops] }' },\n",
          "\n    { block = 'last', barrier = true, alone = true, nest = 'rest[loops]' },\n",
          "\n'own' = 'arena of each worker at 4288 for 128, order [1, 0]'\n", "\nworkers = 2\n",
          "\nbounds = { P = [1, 64], T = [1, 512] }\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
}

TEST(PlanText, MistakesAreNamedWithTheirLine) {
    EXPECT_EQ(error_of_plan(edited("version = 1", "version = 2")),
              "plan.toml: `version`: is 2, this tool reads 1");
    EXPECT_EQ(error_of_plan(edited("version = 1\n", "")), "plan.toml:1: `version`: is missing");
    EXPECT_EQ(error_of_plan(edited("machine = 'avx512'", "machine = 512")),
              "plan.toml:3: `machine`: is not a string");
    EXPECT_EQ(error_of_plan(edited("machine =", "device = 'x'\nmachine =")),
              "plan.toml:3: `device`: is not known here");
    EXPECT_EQ(error_of_plan(edited("'lanes <0:16>'", "'lanes <0:16'")), "plan.toml:9: ends, expected `>`");
    EXPECT_EQ(error_of_plan(edited("arena for more.X", "arena")),
              "plan.toml:15: `packed`: is `arena, rest.A`, expected VALUE for OPERATOR.OPERAND, ..; or made "
              "as VALUE");
    EXPECT_EQ(error_of_plan(edited("arena for more.X", "arena for more")),
              "plan.toml:15: `packed`: is for `more`, expected OPERATOR.OPERAND");
    EXPECT_EQ(error_of_plan(edited("T = [1, 1]", "T = 1")), "plan.toml:21: `T`: is not [low, high]");
    EXPECT_EQ(error_of_plan(edited("T = [1, 1]", "T = [1, 'x']")), "plan.toml:21: `T`: is not [low, high]");
    EXPECT_EQ(error_of_plan(edited("arena_bytes = 8192", "arena_bytes = 'all'")),
              "plan.toml:19: `arena_bytes`: is not an integer");
    EXPECT_EQ(error_of_plan(edited("'arena at 128 for 4096'", "'heap'")),
              "plan.toml:40: `arena`: is `heap`, expected arena, tile, view of NAME or in place of NAME");
    EXPECT_EQ(error_of_plan(edited("'arena at 128 for 4096'", "'arena at 128'")),
              "plan.toml:40: `arena`: ends in ``, expected ` at OFFSET for BYTES`");
    EXPECT_EQ(error_of_plan(edited("'arena at 128 for 4096'", "'arena at -64 for 4096'")),
              "plan.toml:40: `arena`: ends in `-64 for 4096`, expected ` at OFFSET for BYTES`");
    EXPECT_EQ(error_of_plan(edited("'arena at 128 for 4096'", "'arena at 128 for 4096 bytes'")),
              "plan.toml:40: `arena`: has ` bytes` behind its place");
    EXPECT_EQ(error_of_plan(edited("{ block = 'last', nest", "{ block = 'last', lanes = 4, nest")),
              "plan.toml:34: `lanes`: is not known here");
    EXPECT_NE(
        error_of_plan(edited("t:1 { tile", "t:0 { tile"))
            .find("plan.toml:33: `t:0 { tile[loops lanes=16 x=d]; arena[loops] }`: a tile of t is empty"),
        std::string::npos);
    EXPECT_EQ(error_of_plan(edited("workers = 2", "workers = 0")),
              "plan.toml: `workers`: is 0, expected 1 to 1024");
    EXPECT_EQ(error_of_plan(edited("alone = true", "alone = 1")),
              "plan.toml:36: `alone`: is neither true nor false");
    EXPECT_NE(error_of_plan(edited("48@worker", "48@core")).find("expected `@worker`, `@unit` or `{` before"),
              std::string::npos);
    EXPECT_EQ(error_of_plan("version = 1\ngraph = "),
              "plan.toml:2: Error while parsing key-value pair: encountered end-of-file");
}

TEST(PlanText, DamagedTextsAreErrorsOrPrintAsTheyRead) {
    std::mt19937_64 random(9);
    const std::string whole = print(example());
    const std::string alphabet = "a0-9:[]{}<>='\", \n#.";
    int parsed = 0;
    constexpr int kTexts = 4000;
    for (int i = 0; i < kTexts; ++i) {
        std::string text = whole;
        for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
            const size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text.erase(at, 1 + random() % 8);
                    break;
                case 1:
                    text.insert(at, 1, alphabet[random() % alphabet.size()]);
                    break;
                case 2:
                    text[at] = static_cast<char>(random() % 256);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 40));
                    break;
            }
        }
        try {
            const Plan plan = parse_plan(text, "damaged", testing::kToyKernels);
            EXPECT_TRUE(parse_plan(print(plan), "printed", testing::kToyKernels) == plan) << text;
            ++parsed;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(parsed, kTexts / 50);
    EXPECT_LT(parsed, kTexts);
}

}  // namespace
}  // namespace tessera::plan
