// Plans of the shipped model that are wrong: each is refused before any code is made, with the reason that a
// person needs.
#include <functional>
#include <ostream>

#include <gtest/gtest.h>

#include "acceptance/plan_text_edits.h"
#include "acceptance/shipped_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

struct IllegalPlan {
    const char* name;
    std::function<void(PlanDocument&)> edit;
    const char* reason;
};

void PrintTo(const IllegalPlan& plan, std::ostream* out) {
    *out << plan.name;
}

const std::vector<IllegalPlan>& illegal_plans() {
    static const std::vector<IllegalPlan> plans = {
        {"AnotherModel", [](PlanDocument& p) { p.replace("graph = 'tessera-tiny'", "graph = 'llama'"); },
         "PLAN: `llama`: is the graph of this plan, the model's is tessera-tiny (make a plan of this model "
         "by `tessera compile --dump DIR`)"},
        {"KernelMissing", [](PlanDocument& p) { p.nest("layer_up", ""); },
         "PLAN: specialisation decode: `layer_up`: is computed by no kernel of block layer"},
        {"ComputedTwice", [](PlanDocument& p) { p.before("layer_up", "layer_gate[loops]"); },
         "PLAN: specialisation decode: `layer_gate`: is computed twice"},
        {"TooEarly",
         [](PlanDocument& p) {
             p.nest("layer_output", "").before("layer_attention_scatter", "layer_output[loops]");
         },
         "PLAN: specialisation decode: `layer_output`: is computed before layer_attention_scatter, which it "
         "reads"},
        {"NoSuchMicroKernel", [](PlanDocument& p) { p.nest("layer_up", "layer_up[gemm]"); },
         ": `layer_up`: gemm is no micro-kernel"},
        {"NotAProduct", [](PlanDocument& p) { p.nest("layer_swiglu", "layer_swiglu[contract k=f n=f]"); },
         "PLAN: specialisation decode: `layer_swiglu`: micro-kernel contract does not implement it: its "
         "monoid is not sum"},
        {"NoSuchIterator", [](PlanDocument& p) { p.nest("layer_up", "z:8 { layer_up[loops] }"); },
         "layer_up: `z`: is no iterator of the nest's last operator"},
        {"LanesApart", [](PlanDocument& p) { p.stored("layer_up_weight", "row-major"); },
         "layer_up: `W`: its lanes are 128 elements apart (the kernel needs them side by side: choose a "
         "layout with these lanes)"},
        {"ViewOfWhatComputes",
         [](PlanDocument& p) { p.tensor("layer_up", "view of layer_feed_forward_normed"); },
         "PLAN: specialisation decode: `layer_up`: computes something, so its result is no view"},
        {"TakenOverWhileStillRead",
         [](PlanDocument& p) {
             p.tensor("layer_feed_forward_normed", "in place of layer_attention_residual");
         },
         "PLAN: specialisation decode: `layer_feed_forward_normed`: takes over layer_attention_residual, "
         "which layer_feed_forward_normed_reciprocal still reads"},
        {"CarriedValueElsewhere",
         [](PlanDocument& p) { p.tensor("layer_feed_forward_residual", "in place of layer_down"); },
         "PLAN: specialisation decode: `layer_feed_forward_residual`: must end in the storage of embedded, "
         "where the next repetition of block layer reads it "
         "(place it, or what it is made from, `in place of` the carried value)"},
        {"TileReadElsewhere", [](PlanDocument& p) { p.tensor("layer_up", "tile"); },
         "PLAN: specialisation decode: `layer_up`: exists by tiles only, but layer_swiglu reads it in "
         "another kernel"},
        {"StateNotInPlace", [](PlanDocument& p) { p.tensor("layer_k_cache_update_new", "arena"); },
         "PLAN: specialisation decode: `layer_k_cache_update_new`: updates layer_k_cache and must be in "
         "place of it"},
        {"BuffersOverlap",
         [](PlanDocument& p) {
             p.replace("'layer_up' = 'arena at 1536 for 1536'", "'layer_up' = 'arena at 64 for 1536'");
         },
         "PLAN: specialisation decode: `tensors`: layer_gate and layer_up overlap while both are alive"},
        {"ArenaTooSmall",
         [](PlanDocument& p) { p.replace("arena_bytes = 2097152", "arena_bytes = 2097088"); },
         "does not lie on a line inside the arena of 2097088 bytes"},
        {"BoundsBeyondTheModel", [](PlanDocument& p) { p.replace("T = [1, 512]", "T = [1, 1024]"); },
         "PLAN: specialisation prefill: `T`: has bounds [1, 1024], the graph allows [1, 512]"},
        {"NotForAllSizes", [](PlanDocument& p) { p.replace("T = [1, 512]", "T = [1, 500]"); },
         "PLAN: `specialisation`: none covers the bounds of all symbols"},
        {"NoPermutation", [](PlanDocument& p) { p.stored("layer_up_weight", "order [1, 1]"); },
         "PLAN: `layer_up_weight`: order [1, 1] is no permutation of the 2 axes"},
        {"NoSuchAxis", [](PlanDocument& p) { p.stored("layer_up_weight", "lanes <2:4>"); },
         "PLAN: `layer_up_weight`: lane 2:4 names no axis of 2"},
    };
    return plans;
}

class IllegalPlanTest : public ::testing::TestWithParam<IllegalPlan> {};

TEST_P(IllegalPlanTest, IsRefusedWithItsReason) {
    const TemporaryFolder folder;
    const std::string before = editable_plan_text(folder.path());
    PlanDocument plan(before);
    GetParam().edit(plan);
    ASSERT_NE(plan.text(), before);
    try {
        (void)compile_with(plan.text(), folder.path());
        FAIL() << "was compiled";
    } catch (const Error& error) {
        const std::string file = (folder.path() / "plan.toml").string();
        std::string problem = error.what();
        if (const size_t at = problem.find(file); at != std::string::npos)
            problem.replace(at, file.size(), "PLAN");
        EXPECT_NE(problem.find(GetParam().reason), std::string::npos) << problem << "\ninstead of\n"
                                                                      << GetParam().reason;
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "model.tsr"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "cache"));  // no code was made
}

INSTANTIATE_TEST_SUITE_P(Plans, IllegalPlanTest, ::testing::ValuesIn(illegal_plans()),
                         [](const auto& plan) { return std::string(plan.param.name); });

TEST(IllegalPlans, AreAtLeastTen) {
    EXPECT_GE(illegal_plans().size(), 10U);
}

}  // namespace
}  // namespace tessera::testing
