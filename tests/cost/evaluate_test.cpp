#include "cost/evaluate.h"

#include <memory>

#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "plan/constants.h"

namespace tessera::cost {
namespace {

/// The only block of a graph without symbols, every value in the arena.
class Evaluated {
public:
    explicit Evaluated(const std::string& text)
        : graph_(parse_graph(text, "test")), model_(tessera::testing::measured_machine()) {
        verify(graph_, "test");
        plan_.graph = graph_.name;
        specialisation_.name = "all";
        for (const Node& node : graph_.blocks.front().nodes)
            for (const ValueId result : node.results) specialisation_.tensors[graph_[result].name] = {};
        constants_ = plan::constant_section(graph_, plan_);
        input_ = std::make_unique<lowering::LoweringInput>(
            lowering::lowering_input(graph_, plan_, specialisation_, constants_));
        links_ = lowering::block_links(*input_, graph_.blocks.front());
        evaluator_ = std::make_unique<Evaluator>(*input_, links_, sizes_of(graph_, plan_, specialisation_),
                                                 model_, size_t{3});
    }

    Evaluation operator()(const std::string& nest, std::vector<bool> is_tile) {
        return (*evaluator_)(plan::parse_nest(nest, "test", kernels::micro_kernels()), is_tile);
    }

private:
    Graph graph_;
    CostModel model_;
    plan::Plan plan_;
    plan::SpecialisationPlan specialisation_;
    plan::ConstantSection constants_;
    std::unique_ptr<lowering::LoweringInput> input_;
    lowering::BlockLinks links_;
    std::unique_ptr<Evaluator> evaluator_;
};

const std::string kChain = R"(graph "chain"
input A: f32[4096, 16]
input B: f32[16, 4096]
input D: f32[4096, 16]
value C: f32[4096, 4096]
value E: f32[4096, 16]

block main
  node first(A, B) -> C
    op matmul(m: 4096, n: 4096, k*: 16)
    in A f32[m, k]
    in B f32[k, n]
    out C f32[m, n] = sum(A * B)
  node second(C, D) -> E
    op matmul(m: 4096, h: 16, n*: 4096)
    in C f32[m, n]
    in D f32[n, h]
    out E f32[m, h] = sum(C * D)

output E
)";

constexpr double kBytesOfC = 4.0 * 4096 * 4096;
const std::string kFirst = "first[contract groups=2 k=k lanes=16 m=m n=n rows=12]",
                  kSecond = "second[contract groups=1 k=n lanes=16 m=m n=h rows=12]";

/// The line is read first, and the store waits for it; reads are hidden behind computing.
TEST(Evaluator, StoresToMemoryTakeTwiceTheirBytesAndAreWaitedFor) {
    Evaluated kernel(kChain);
    const Evaluation written = kernel(kFirst, {false, false}), read = kernel(kSecond, {false, false});
    EXPECT_GE(written.levels[3], 2 * kBytesOfC / 10e9);
    EXPECT_GE(written.stalls, 2 * kBytesOfC / 10e9);
    EXPECT_GE(written.seconds, written.compute + written.stalls);
    EXPECT_GE(read.levels[3], kBytesOfC / 10e9);
    EXPECT_LT(read.levels[3], 1.2 * kBytesOfC / 10e9);
    EXPECT_LT(read.stalls, 0.2 * kBytesOfC / 10e9);
}

TEST(Evaluator, AProductInPartsLoadsAndStoresItsSums) {
    Evaluated kernel(kChain);
    const auto fused = [&](int rows, int columns) {
        return kernel("m:" + std::to_string(rows) + " n:" + std::to_string(columns) + " { " + kFirst + "; " +
                          kSecond + " }",
                      {true, false});
    };
    const Evaluation few = fused(24, 1024), many = fused(24, 32);
    // Each further trip loads and stores E, from L1 at 100 GB/s at best; less is read of D again.
    const double more = 4096.0 / 32 - 4096.0 / 1024;
    EXPECT_GE(many.stalls - few.stalls, 0.95 * more * 2 * 4 * 4096 * 16 / 100e9);
    EXPECT_LT(few.seconds, kernel(kFirst, {false, false}).seconds + kernel(kSecond, {false, false}).seconds);
    EXPECT_EQ(few.buffer_bytes, 4 * 24 * 1024);
}

}  // namespace
}  // namespace tessera::cost
