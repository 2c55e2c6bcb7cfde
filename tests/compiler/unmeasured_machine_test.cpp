// Layouts are searched on machines that were not measured too, by roofs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "ir/graph_text.h"
#include "lowering/plan/constants.h"
#include "machine/machine_text.h"

namespace tessera::compiler {
namespace {

/// Row-major, either X or the constant is read one lane after the other.
constexpr const char* kTransposed = R"(graph "transposed"
input X: f32[256, 256]
constant C: f32[256, 256] from "C"
value Y: f32[256, 256]

block main
  node add(X, C) -> Y
    op add(i: 256, j: 256)
    in A f32[i, j]
    in B f32[j, i]
    out Y f32[i, j] = A + B
output Y
)";

/// A product: the search stores its constant as the default planner does, however its micro-kernels compare.
constexpr const char* kProduct = R"(graph "product"
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

class UnmeasuredMachine : public ::testing::TestWithParam<const char*> {
protected:
    plan::Plan planned(const char* text, int64_t effort) const {
        CompileOptions options;
        options.machine =
            machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + GetParam() + ".toml");
        options.workers = 1;
        options.search_effort = effort;
        CompileReport report;
        plan::Plan plan = compile_graph(parse_graph(text, "test"), options, report).plan;
        for (const auto& pass : report.passes) {
            if (pass.name != "layouts") continue;
            EXPECT_THAT(pass.note, ::testing::HasSubstr("by roofs: no micro-kernels were measured"));
        }
        return plan;
    }
    std::string lanes() const {
        const machine::Machine machine =
            machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + GetParam() + ".toml");
        return "lanes <0:" + std::to_string(machine::vector_lanes(machine)) + ">";
    }
};

TEST_P(UnmeasuredMachine, RoofsThatAreFarApartDecide) {
    const plan::Plan plan = planned(kTransposed, 1);
    EXPECT_EQ(print(plan::stored_layout(plan, "C")), lanes());
    EXPECT_EQ(print(plan::stored_layout(planned(kTransposed, 0), "C")), "row-major");
    EXPECT_EQ(planned(kTransposed, 1), plan);
}

TEST_P(UnmeasuredMachine, WhereTheyAreNotTheDefaultPlannerDoes) {
    EXPECT_EQ(planned(kProduct, 1), planned(kProduct, 0));
}

INSTANTIATE_TEST_SUITE_P(All, UnmeasuredMachine,
                         ::testing::Values("avx2", "avx512", "amx", "neon", "generic-x86-64"),
                         [](const auto& name) {
                             std::string text = name.param;
                             std::erase(text, '-');
                             std::erase(text, '_');
                             return text;
                         });

}  // namespace
}  // namespace tessera::compiler
