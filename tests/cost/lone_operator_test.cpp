#include "cost/lone_operator.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "lowering/kernels/micro_kernels.h"

namespace tessera::cost {
namespace {

constexpr size_t kMemory = 3;  ///< the level of constants

/// C[m, n] = sum over k of A[m, k] * B[n, k].
class Product {
public:
    explicit Product(OperatorSizes sizes, CostModel model = CostModel(tessera::testing::measured_machine()))
        : model_(std::move(model)),
          alone_(std::make_shared<const Definition>(parse_definition(
                     "op matmul(m: M, n: 256, k*: 512)\ndim M in 1..64\nin A f32[m, k]\nin B f32[n, k]\n"
                     "out C f32[m, n] = sum(A * B)\n",
                     "test.op")),
                 std::vector<Operand>{
                     {.type = {ElementType::kF32, {m(), fixed(512)}}},
                     {.type = {ElementType::kF32, {fixed(256), fixed(512)}}, .is_constant = true}},
                 std::vector<TensorType>{{ElementType::kF32, {m(), fixed(256)}}}, sizes, model_, kMemory) {}

    LonePrice by(const std::string& leaf) { return alone_.by(read(leaf)); }
    LonePrice by_roof(const machine::ComputeUnit* unit) { return alone_.by_roof(unit); }
    std::optional<lowering::Refusal> why_no_strides(const std::string& leaf) const {
        return alone_.why_no_strides(read(leaf));
    }
    const machine::Machine& machine() const { return model_.machine(); }

private:
    static Dim fixed(int64_t extent) { return Dim{extent}; }
    static Dim m() { return Dim{"M"}; }
    static plan::Leaf read(const std::string& leaf) {
        return plan::parse_nest(leaf, "test", kernels::micro_kernels()).root();
    }

    const CostModel model_;
    LoneOperator alone_;
};

OperatorSizes sizes(int64_t workers) {
    return {.symbols = {{.name = "M", .low = 1, .high = 64}},
            .points = {{.name = "one", .weight = 3, .values = {{"M", 1}}},
                       {.name = "many", .weight = 2, .values = {{"M", 64}}}},
            .specialisation = {.name = "all", .bounds = {{"M", {1, 64}}}},
            .workers = workers};
}

constexpr const char* kContract = "op[contract groups=1 k=k lanes=16 m=m n=n rows=1]";
constexpr const char* kLoops = "op[loops]";

/// A row with 16 columns and k = 1000 takes 1 us, and each call 10 ns more.
TEST(LoneOperator, HasTheTimeOfItsMicroKernelAtEachPoint) {
    Product product(sizes(1));
    const LonePrice price = product.by(kContract);
    EXPECT_EQ(price.why_infinite, "");
    ASSERT_EQ(price.at_points.size(), 2U);
    constexpr double kAsListed = 16 * 0.512e-6 + 10e-9;
    EXPECT_NEAR(price.near[0], kAsListed, 0.04 * kAsListed) << "ends of blocks of half the listed sums";
    EXPECT_GT(price.near[0], kAsListed);
    EXPECT_DOUBLE_EQ(price.seconds, 3 * price.at_points[0] + 2 * price.at_points[1]);
    for (const size_t p : {0, 1}) {
        EXPECT_LT(price.near[p], price.alone[p]);  // B is in memory
        EXPECT_LE(price.alone[p], price.at_points[p]);
    }
}

TEST(LoneOperator, EachWorkerDoesAnEqualPart) {
    Product alone(sizes(1)), shared(sizes(2));
    const LonePrice whole = alone.by(kContract), half = shared.by(kContract);
    for (const size_t p : {0, 1}) EXPECT_DOUBLE_EQ(half.near[p], whole.near[p] / 2);
}

/// A and C of 64 rows are in L2, those of one row in L1, and B is in memory.
TEST(LoneOperator, TheRoofOfAUnitIsThePeakOrTheTransfers) {
    Product product(sizes(1));
    const double b = 4 * 256 * 512 / 10e9, a_and_c = 4 * 64 * (512 + 256) / 50e9;
    machine::ComputeUnit unit = product.machine().units.front();
    unit.peaks = {{.level = "L1", .operations_per_second = 1e15}};
    const LonePrice fast = product.by_roof(&unit);
    EXPECT_NEAR(fast.at_points[0], b, 1e-12);
    EXPECT_NEAR(fast.at_points[1], b + a_and_c, 1e-12);
    unit.peaks = {{.level = "L1", .operations_per_second = 1e9}};
    const LonePrice slow = product.by_roof(&unit);
    for (const size_t p : {0, 1})
        EXPECT_DOUBLE_EQ(slow.at_points[p], 2.0 * 256 * 512 * (p == 0 ? 1 : 64) / 1e9);
    EXPECT_DOUBLE_EQ(slow.seconds, 3 * slow.at_points[0] + 2 * slow.at_points[1]);
}

TEST(LoneOperator, WithoutAMatrixUnitTheBestLanesCount) {
    Product product(sizes(1));
    machine::ComputeUnit vector = product.machine().units.front();
    // No lanes do more than a multiply-add of each, and something has to be loaded.
    const LonePrice lanes = product.by_roof(nullptr), peak = product.by_roof(&vector);
    for (const size_t p : {0, 1}) EXPECT_GT(lanes.near[p], peak.near[p]);
}

TEST(LoneOperator, DoesNotLowerWhereAMicroKernelFindsNoStrides) {
    const Product product(sizes(1));
    EXPECT_TRUE(product.why_no_strides(kContract));  // neighbours of B lie along k
    EXPECT_FALSE(product.why_no_strides(kLoops));
}

}  // namespace
}  // namespace tessera::cost
