#include "nest/nests/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string kernel_error(const std::string& text) {
    try {
        (void)kernel_of(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Kernels, KnowWhoMakesAndWhoReads) {
    const Kernel kernel = kernel_of(kProducts);
    const Tensor& c = kernel.tensors[static_cast<size_t>(kernel.find_tensor("C"))];
    EXPECT_EQ(c.maker, 0);
    EXPECT_THAT(c.readers, ElementsAre(1));
    EXPECT_THAT(c.made, ElementsAre(facts::Range{0, 20}, facts::Range{0, 18}));
    EXPECT_EQ(kernel.tensors[static_cast<size_t>(kernel.find_tensor("A"))].maker, -1);
    EXPECT_EQ(kernel.find_operator("d"), -1);
    EXPECT_EQ(kernel.operators[1].results[0].axes[1].iterator, 1U);
}

TEST(Kernels, RoundBoxesUpToWholeBytes) {
    const Kernel kernel = kernel_of("op c(m: 5, n: 3)\nin A i4[m, n]\nout C u6[m, n] = A\n");
    EXPECT_EQ(kernel.bytes(0, {{0, 5}, {0, 3}}), 8);
    EXPECT_EQ(kernel.bytes(1, {{1, 2}, {0, 3}}), 3);
}

TEST(Kernels, KeepWhatIsMadeBehindAPadding) {
    const Kernel kernel = kernel_of("op c(m: 5)\nin A f32[m]\nout C f32[m + 2] of [9] = A\n");
    EXPECT_THAT(kernel.tensors[1].made, ElementsAre(facts::Range{2, 7}));
}

TEST(Kernels, RefuseNamesThatMeanTwoThings) {
    const std::string first = "op c(m: 4)\nin A f32[m]\nout C f32[m] = A\n";
    EXPECT_THAT(kernel_error(first + first), HasSubstr("t.nest:4: `c`: is taken"));
    EXPECT_THAT(kernel_error("op load(m: 4)\nin A f32[m]\nout C f32[m] = A\n"),
                HasSubstr("`load`: is taken"));
    EXPECT_THAT(kernel_error(first + "op d(m: 4)\nin A f16[m]\nout D f32[m] = A\n"),
                HasSubstr("`A`: is f16[4], but f32[4] in an operator above it"));
    EXPECT_THAT(kernel_error(first + "op d(m: 3)\nin C f32[m]\nout D f32[m] = C\n"),
                HasSubstr("`C`: is f32[3], but f32[4]"));
    EXPECT_THAT(kernel_error(first + "op d(m: 4)\nin B f32[m]\nout C f32[m] = B\n"),
                HasSubstr("`C`: is used before it is made, or made twice"));
    EXPECT_THAT(kernel_error(first + "op d(m: 4)\nin B f32[m]\nout A f32[m] = B\n"),
                HasSubstr("`A`: is used before it is made, or made twice"));
}

TEST(Kernels, RefuseIndexOperandsThatChange) {
    const std::string first =
        "op c(m: 4)\nindex p i32[m]\nin A f32[p[m]] of [4]\nout C i32[m] = i32(A)\ntest\nfill p[i] = 3 - i\n";
    EXPECT_EQ(kernel_error(first), "");
    EXPECT_THAT(
        kernel_error(first + "op d(m: 4)\nindex p i32[m]\nin C i32[p[m]] of [4]\nout D f32[m] = C\ntest\n"
                             "fill p[i] = i\n"),
        HasSubstr("`p`: has other contents"));
    EXPECT_THAT(kernel_error(first + "op d(m: 4)\nin p i32[m], C i32[m]\nout D f32[m] = C * p\n"),
                HasSubstr("`p`: is an index operand in one operator and none in another"));
    EXPECT_THAT(
        kernel_error(first + "op d(m: 4)\nindex C i32[m]\nin B f32[C[m]] of [4]\nout D f32[m] = B\ntest\n"
                             "fill C[i] = i\n"),
        HasSubstr("`C`: is made by an operator and cannot be an index operand"));
    EXPECT_THAT(kernel_error("op c(m: 4)\nindex p i32[m]\nin A f32[p[m]] of [3]\nout C f32[m] = A\ntest\n"
                             "fill p[i] = i\n"),
                HasSubstr("`A`: is read out of range along the indirect axis 0"));
}

TEST(Kernels, RefuseResultsWhoseAxesAreNoIterators) {
    const std::string a = "op c(m: 4, n: 3)\nin A f32[m, n]\nout C f32";
    EXPECT_THAT(kernel_error(a + "[2 * m, n] of [7, 3] = A\n"), HasSubstr("`C`: has the axis `2 * m`"));
    EXPECT_THAT(kernel_error(a + "[m + 4 * n] of [12] = A\n"), HasSubstr("`C`: has the axis `m + 4 * n`"));
    EXPECT_THAT(kernel_error(a + "[3 - m, n] of [4, 3] = A\n"), HasSubstr("`C`: has the axis"));
    EXPECT_EQ(kernel_error(a + "[n + 1, m] of [4, 4] = A\n"), "");
}

TEST(Kernels, FillOnlyWhatFitsInMemory) {
    EXPECT_THAT(
        kernel_error("op c(m: 9000000)\nindex p i32[m]\nin A f32[m]\nout C f32[m] = A\nwhere p[m] > 0\n"
                     "test\nfill p[i] = 1\n"),
        HasSubstr("`p`: has 9000000 elements"));
}

}  // namespace
}  // namespace tessera::nests
