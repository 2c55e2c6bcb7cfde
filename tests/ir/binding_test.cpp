#include <ctime>

#include <gtest/gtest.h>

#include "ir/box_walk.h"
#include "ir/fixtures.h"
#include "ir/integer_value.h"
#include "ir/random_definition.h"
#include "support/error.h"

namespace tessera {
namespace {

TEST(Binding, ShapesFollowFromTheMaps) {
    const DefinitionFile file = parse_definition_file(
        "op f(t: T, d: D div 2, s*: T + 1)\n"
        "dim T in 1..512, D in 2..512 multiple of 2\n"
        "in X f32[t, 2 * d + 1, s div 3]\n"
        "in Z f32[T - 1 - t, d mod 3] of [2 * T, min(D, 3)]\n"
        "out Y f32[d * T + t] = sum(X * Z)\n"
        "test\nbind T = 4, D = 10\n",
        "f");
    const BoundExtents extents = bound_extents(file, "f");
    EXPECT_EQ(extents.iterators, (std::vector<int64_t>{4, 5, 5}));
    EXPECT_EQ(extents.shapes, (std::vector<std::vector<int64_t>>{{4, 10, 2}, {8, 3}, {20}}));
    EXPECT_EQ(extents.dims, (std::vector<int64_t>{4, 10}));
}

TEST(Binding, DimsStayWithinTheirBounds) {
    const DefinitionFile file = parse_definition_file(text_of(definitions_folder() / "linear.op"), "linear");
    EXPECT_NO_THROW(bound_extents(file.definition, {1, 152064, 27648}, "linear"));
    EXPECT_THROW(bound_extents(file.definition, {0, 8, 8}, "linear"), Error);
    EXPECT_THROW(bound_extents(file.definition, {4097, 8, 8}, "linear"), Error);
    EXPECT_THROW(bound_extents(file.definition, {1, 10, 8}, "linear"), Error);
}

// Every declared shape is 1 + the largest coordinate of an enumeration.
TEST(Binding, ShapesOfRandomDefinitionsAgreeWithEnumeration) {
    int shapes = 0;
    for (uint64_t seed = 1000; seed < 1400; ++seed) {
        const DefinitionFile file = random_definition(seed, {.largest_box = 3000});
        const BoundExtents extents = bound_extents(file, "random");
        std::vector<int> all;
        for (size_t i = 0; i < extents.iterators.size(); ++i) all.push_back(static_cast<int>(i));
        for (size_t t = 0; t < file.definition.tensors.size(); ++t) {
            const TensorDecl& tensor = file.definition.tensors[t];
            if (tensor.shape) continue;
            std::vector<int64_t> largest(tensor.map.size(), 0);
            std::vector<int64_t> point;
            const BoxWalk walk(extents.iterators, all);
            walk.start(point);
            do {
                const IntegerScope scope{
                    .dims = extents.dims, .iterators = point, .fill_position = 0, .read = nullptr};
                for (size_t a = 0; a < largest.size(); ++a)
                    largest[a] = std::max(largest[a], 1 + integer_value(*tensor.map[a], scope, "x"));
            } while (walk.next(point));
            ASSERT_EQ(extents.shapes[t], largest) << "seed " << seed << ", " << tensor.name;
            ++shapes;
        }
    }
    EXPECT_GT(shapes, 500);
}

void expect_quick(const std::string& text) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(error_of(text), "");
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0)
        << text;  // instrumented builds are slow
}

// A 32 B model: hidden 5120, feed-forward 27648, vocabulary 152064, 4096 tokens.
TEST(Binding, HugeExtentsAreBoundAndCheckedWithoutWalkingThem) {
    expect_quick(
        "op f(m: 4096, n: 152064, k*: 5120)\nin A f32[m, k]\nin B bf16[n, k]\nout C f32[m, n] = sum(A * "
        "B)\ntest\ntile m 64 at 64\n");
    expect_quick("op f(m: 4096, n: 27648)\nin A f32[m, n]\nout C f32[n, m] = A\ntest\n");
    expect_quick("op f(m: 4096, n: 27648)\nin A f32[m, n]\nout C f32[n div 16, m, n mod 16] = A\ntest\n");
    expect_quick(
        "op f(m: 4096, n: 27648)\nin A f32[m, n]\nout C f32[m * 27648 + n div 2 * 2 + 1 - n mod 2] = "
        "A\ntest\n");
    expect_quick(
        "op f(t: 4096, h: 40, d: 128)\nindex slot i32[t]\nin X f32[t, h, d]\n"
        "update C f16[slot[t] div 16, slot[t] mod 16, h, d] of [512, 16, 40, 128] = X\ntest\nfill slot[i] = "
        "4 * i div 4 + 7\n");
    expect_quick(
        "op f(t: 4096, h: 40, d: 128)\nindex position i32[t]\nin X f32[t, h, d]\nin cos f32[position[t], d "
        "mod 64] of [40960, 64]\n"
        "out Y f32[t, h, d] = X * cos * X[t, h, (d + 64) mod 128]\ntest\nfill position[i] = 9 * i\n");
}

TEST(Binding, HugeStoresThatCollideAreFound) {
    const std::string error = error_of(
        "op f(m: 4096, n: 27648)\nin A f32[m, n]\nout C f32[m + n, n div 2] of [40000, 40000] = A\ntest\n");
    EXPECT_NE(error.find("two iterations write"), std::string::npos) << error;
    const std::string slots = error_of(
        "op f(t: 4096, h: 40, d: 128)\nindex slot i32[t]\nin X f32[t, h, d]\n"
        "update C f16[slot[t], h, d] of [4096, 40, 128] = X\ntest\nfill slot[i] = i mod 4095\n");
    EXPECT_NE(slots.find("two iterations write, again at t = 4095, h = 0, d = 0"), std::string::npos)
        << slots;
}

}  // namespace
}  // namespace tessera
