// Numbers of plans that no tile, stride or buffer can have are refused with the loop or the tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/example_plans.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(Example example) {
    try {
        (void)example.planned();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(CheckedPlans, TilesTimesWorkers) {
    Example example = examples().at("contract");
    example.workers = 4;
    example.nests = {"n:4611686018427387904@worker { y[contract k=k lanes=8 m=t n=n] }"};
    EXPECT_THAT(refusal(example), AllOf(HasSubstr("`n`"), HasSubstr("tiles of 4611686018427387904 between 4"),
                                        HasSubstr("exceeds 64 bits")));
}

TEST(CheckedPlans, TheLargestTileIsTheWholeRange) {
    Example example = examples().at("contract");
    example.nests = {"n:9223372036854775807 t:9223372036854775807 { y[contract k=k lanes=8 m=t n=n] }"};
    EXPECT_EQ(refusal(example), "");
}

TEST(CheckedPlans, BytesOfAnArena) {
    const std::string text = plan::print(examples().at("contract").planned());
    for (const char* bytes : {"-1", "-9223372036854775808", "9223372036854775807"}) {
        std::string edited = text;
        const std::string from = "arena_bytes = 0";
        ASSERT_NE(edited.find(from), std::string::npos);
        edited.replace(edited.find(from), from.size(), std::string("arena_bytes = ") + bytes);
        try {
            (void)plan::parse_plan(edited, "plan", kernels::micro_kernels());
            ADD_FAILURE() << bytes;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("`arena_bytes`: is"));
        }
    }
}

TEST(CheckedPlans, BytesOfABuffer) {
    Example example;
    example.graph = R"(graph "large"
symbol T in 1..64
input x: f32[T]
value y: f32[T, 4398046511104]
value z: f32[T]

block main
  node y(x) -> y
    op spread(t: T, n: 4398046511104)
    dim T in 1..64
    in X f32[t]
    out Y f32[t, n] = X
  node z(y) -> z
    op fold(t: T, n*: 4398046511104)
    dim T in 1..64
    in Y f32[t, n]
    out Z f32[t] = sum(Y)

output z
)";
    example.nests = {"y[loops]", "z[loops]"};
    example.tensors = {{"y", {}}};
    EXPECT_THAT(refusal(example), AllOf(HasSubstr("y"), HasSubstr("may have 281474976710656 elements")));
}

}  // namespace
}  // namespace tessera::testing
