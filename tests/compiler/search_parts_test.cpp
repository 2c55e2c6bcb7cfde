#include "compiler/search_parts.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "compiler/kept_plan.h"
#include "compiler/planner_options.h"
#include "machine/machine_text.h"
#include "search/rules/algebra/algebra_rules.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two transposes that undo each other, and a product of what they give.
constexpr const char* kTurned = R"(graph "turned"
input X: f32[64, 256]
constant W: f32[256, 256] from "W"
value T: f32[256, 64]
value U: f32[64, 256]
value Y: f32[64, 256]

block main
  node turn(X) -> T
    op turn(k: 256, m: 64)
    in X f32[m, k]
    out T f32[k, m] = X
  node back(T) -> U
    op turn(m: 64, k: 256)
    in T f32[k, m]
    out U f32[m, k] = T
  node product(U, W) -> Y
    op matmul(m: 64, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out Y f32[m, n] = sum(A * B)
output Y
)";

CompileOptions options_without(const std::vector<std::string>& names, std::optional<int64_t> regions = {}) {
    CompileOptions options;
    options.machine =
        machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/generic-x86-64.toml");
    options.workers = 1;
    options.parts = search_parts(names, regions);
    return options;
}

struct Searched {
    Compiled compiled;
    std::vector<std::string> passes;
    std::string note;  ///< of the pass that plans
};

Searched searched_without(const std::vector<std::string>& names) {
    const Graph graph = parse_graph(kTurned, "test");
    CompileReport report;
    Searched searched{compile_graph(graph, options_without(names), report), {}, {}};
    for (const CompileReport::Pass& pass : report.passes) {
        searched.passes.push_back(pass.name);
        if (pass.name == "plan") searched.note = pass.note;
    }
    return searched;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

TEST(SearchParts, HaveEveryFamilyOfRulesAndNoNameTwice) {
    std::vector<std::string> names;
    for (const SearchPartName& part : search_part_names()) {
        names.push_back(part.name);
        EXPECT_FALSE(part.help.empty()) << part.name;
    }
    for (const std::string_view family : rules::rule_families())
        EXPECT_TRUE(has(names, std::string(family))) << family;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(SearchParts, EachNameLeavesSomethingOut) {
    const Graph graph = parse_graph(kTurned, "test");
    CompileOptions options = options_without({});
    options.cache = "cache";
    std::set<std::filesystem::path> files{kept_plan_file(graph, options)};
    for (const SearchPartName& part : search_part_names()) {
        const SearchParts parts = search_parts({{part.name}}, {});
        EXPECT_THAT(parts.without, ElementsAre(part.name));
        EXPECT_EQ(left_out(parts), ", without " + part.name);
        const SearchParts all;
        const bool is_family = !parts.rule_families.empty();
        const int differences = (parts.rewriting != all.rewriting) + is_family +
                                (parts.layouts != all.layouts) + (parts.growth != all.growth) +
                                (parts.proof != all.proof) + (parts.outer_caches != all.outer_caches) +
                                (parts.nests != all.nests);
        EXPECT_EQ(differences, 1) << part.name;
        options.parts = parts;
        EXPECT_TRUE(files.insert(kept_plan_file(graph, options)).second) << part.name;
    }
    options.parts = search_parts({}, 2);
    EXPECT_EQ(left_out(options.parts), ", regions of up to 2 operators");
    EXPECT_TRUE(files.insert(kept_plan_file(graph, options)).second);
}

TEST(SearchParts, RefusesUnknownNamesWithTheList) {
    for (const auto& refused : {std::vector<std::string>{"layout"}, {"layouts", "fold-two"}}) {
        try {
            (void)search_parts(refused, {});
            FAIL() << refused.back();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind, ErrorKind::kUsage);
            EXPECT_THAT(error.what(),
                        HasSubstr("is \"" + refused.back() + "\", expected one of rewriting, layouts,"));
            EXPECT_THAT(error.what(), HasSubstr("one_hot"));
        }
    }
    for (const int64_t regions : {0, 9}) EXPECT_THROW((void)search_parts({}, regions), Error) << regions;
}

TEST(SearchParts, ArePassesThatDoNotRun) {
    const Searched all = searched_without({});
    EXPECT_TRUE(has(all.passes, "rewrite"));
    EXPECT_TRUE(has(all.passes, "layouts"));
    EXPECT_THAT(all.note, Not(HasSubstr("without")));
    EXPECT_THAT(print(all.compiled.graph), Not(HasSubstr("node back")));
    const Searched some = searched_without({"layouts", "rewriting"});
    EXPECT_FALSE(has(some.passes, "rewrite"));
    EXPECT_FALSE(has(some.passes, "layouts"));
    EXPECT_THAT(some.note, HasSubstr(", without rewriting, layouts"));
    EXPECT_THAT(print(some.compiled.graph), HasSubstr("node back"));
}

TEST(SearchParts, AreFamiliesOfRules) {
    const std::vector<std::string_view> families = rules::rule_families();
    EXPECT_THAT(print(searched_without({families.begin(), families.end()}).compiled.graph),
                HasSubstr("node back"));
    EXPECT_THAT(print(searched_without({"concats"}).compiled.graph), Not(HasSubstr("node back")));
}

TEST(SearchParts, AreOptionsOfPlanning) {
    const Graph graph = parse_graph(kTurned, "test");
    CompileOptions options = options_without({"growth", "proof", "odd-tiles", "outer-caches"}, 2);
    options.machine = machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/avx2.toml");
    const PlanningStart start = planning_start(graph, options.machine, 1, 1, options.parts);
    EXPECT_EQ(start.options.region, 2U);
    EXPECT_FALSE(start.options.grows);
    EXPECT_FALSE(start.options.proves);
    EXPECT_EQ(start.options.space, schedule::NestSpace{.has_odd_sizes = false});
    std::vector<std::string> levels, left = {"L1", "L2", "memory"};
    for (const machine::MemoryLevel& level : start.options.costs->machine().memory)
        levels.push_back(level.name);
    EXPECT_GT(options.machine.memory.size(), left.size());
    EXPECT_EQ(levels, left);
    const PlanningStart all = planning_start(graph, options.machine, 1, 2);
    EXPECT_EQ(all.options.region, 5U);
    EXPECT_TRUE(all.options.grows && all.options.proves);
    EXPECT_EQ(all.options.space, schedule::NestSpace{});
    EXPECT_EQ(all.options.costs->machine().memory.size(), options.machine.memory.size());
}

}  // namespace
}  // namespace tessera::compiler
