#include "compiler/kept_plan.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "machine/machine_text.h"
#include "support/kept_files.h"
#include "support/temporary_folder.h"

namespace tessera::compiler {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeptProduct = R"(graph "product"
input X: f32[4, 256]
constant C: f32[256, 256] from "C"
value Y: f32[4, 256]

block main
  node product(X, C) -> Y
    op matmul(m: 4, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out Y f32[m, n] = sum(A * B)
output Y
)";

class KeptPlans : public ::testing::Test {
protected:
    KeptPlans() : graph_(parse_graph(kKeptProduct, "test")) {
        options_.machine =
            machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/generic-x86-64.toml");
        options_.workers = 1;
        options_.cache = folder_.path();
        verify(graph_, "test");
    }

    /// The compiled graph; true if the plan came from the cache.
    std::pair<Compiled, bool> compiled(const Graph& graph) const {
        CompileReport report;
        Compiled result = compile_graph(graph, options_, report);
        const auto plan = std::ranges::find(report.passes, "plan", &CompileReport::Pass::name);
        return {std::move(result), plan != report.passes.end() && plan->note == "from the cache"};
    }
    fs::path file() const { return kept_plan_file(graph_, options_); }

    TemporaryFolder folder_;
    Graph graph_;
    CompileOptions options_;
};

TEST_F(KeptPlans, AreOfOnePrice) {
    std::set<fs::path> files{file()};
    for (const auto model : {machine::PublishedModel::kNncase, machine::PublishedModel::kMcfuser}) {
        options_.cost = model;
        EXPECT_TRUE(files.insert(file()).second) << name(model);
    }
}

TEST_F(KeptPlans, AreThoseOfAnotherModelOfTheSameContent) {
    const auto [first, was_kept] = compiled(graph_);
    EXPECT_FALSE(was_kept);
    Graph other = graph_;
    other.name = "a fine \"tune\"";
    const auto [second, is_kept] = compiled(other);
    EXPECT_TRUE(is_kept);
    EXPECT_EQ(second.code, first.code);
    EXPECT_EQ(second.programs, first.programs);
    CompileOptions options = options_;
    options.cache.clear();
    CompileReport report;
    const Compiled alone = compile_graph(other, options, report);
    EXPECT_EQ(second.plan, alone.plan);
    EXPECT_EQ(print(second.graph), print(alone.graph));
    EXPECT_EQ(second.code, alone.code);
    EXPECT_EQ(second.cut_short, alone.cut_short);
}

TEST_F(KeptPlans, DependOnGraphMachineAndOptions) {
    std::set<fs::path> files = {file()};
    const auto is_new = [&](const Graph& graph, const CompileOptions& options) {
        return files.insert(kept_plan_file(graph, options)).second;
    };
    Graph other = graph_;
    other.values[1].sources = {"D"};
    EXPECT_TRUE(is_new(other, options_));
    CompileOptions options = options_;
    options.workers = 2;
    EXPECT_TRUE(is_new(graph_, options));
    options = options_;
    options.search_effort = 2;
    EXPECT_TRUE(is_new(graph_, options));
    options = options_;
    options.is_rewritten = true;
    EXPECT_TRUE(is_new(graph_, options));
    options = options_;
    options.machine.memory.front().capacity_bytes *= 2;
    EXPECT_TRUE(is_new(graph_, options));
    for (const auto member :
         {&CompileOptions::plan, &CompileOptions::kernels, &CompileOptions::tuning, &CompileOptions::dump}) {
        options = options_;
        options.*member = "file";
        EXPECT_TRUE(kept_plan_file(graph_, options).empty());
    }
}

TEST_F(KeptPlans, ThatAreDamagedOrForeignAreMadeAnew) {
    const Compiled first = compiled(graph_).first;
    const std::string content = kept_file(file()).value();
    std::string changed = content;
    changed[content.size() / 2] ^= 1;
    // One that says what it is, and is no plan of this graph.
    KeptPlan foreign{.graph = first.graph, .plan = first.plan};
    foreign.plan.specialisations.clear();
    keep_plan(file(), foreign);
    const std::string other = kept_file(file()).value();
    for (const std::string& bad : {std::string(), content.substr(0, content.size() / 2), changed,
                                   content + "x", other, content.substr(content.find('\n') + 1)}) {
        std::ofstream(file(), std::ios::binary) << bad;
        const auto [again, is_kept] = compiled(graph_);
        EXPECT_FALSE(is_kept);
        EXPECT_EQ(again.code, first.code);
        EXPECT_EQ(kept_file(file()), content);
    }
    fs::copy(file(), folder_.path() / "0123.plan");
    EXPECT_FALSE(kept_plan(folder_.path() / "0123.plan", "product"));
    EXPECT_TRUE(kept_plan(file(), "product"));
}

}  // namespace
}  // namespace tessera::compiler
