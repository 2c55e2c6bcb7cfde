#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ir/facts/image.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

// Unions of random products on three axes, strided and not, against the listed elements.
TEST(ElementSet, CountsUnionsOfProducts) {
    std::mt19937 random(3);
    for (int round = 0; round < 400; ++round) {
        ElementSet set(3);
        std::set<std::vector<int64_t>> listed;
        const auto products = 1 + random() % 5;
        for (unsigned p = 0; p < products; ++p) {
            std::vector<IntegerSet> product;
            std::vector<std::vector<int64_t>> axes;
            for (int axis = 0; axis < 3; ++axis) {
                const auto stride = static_cast<int64_t>(random() % 3) + 1;
                const auto first = static_cast<int64_t>(random() % 4);
                const auto count = static_cast<int64_t>(random() % 5);
                product.push_back(IntegerSet({0, count}).empty()
                                      ? IntegerSet()
                                      : IntegerSet({0, count}).strided(stride, first));
                axes.emplace_back();
                for (int64_t i = 0; i < count; ++i) axes.back().push_back(first + stride * i);
            }
            set.add(product);
            for (const int64_t x : axes[0])
                for (const int64_t y : axes[1])
                    for (const int64_t z : axes[2]) listed.insert({x, y, z});
        }
        ASSERT_EQ(set.count(), static_cast<int64_t>(listed.size())) << "round " << round;
        const auto box = set.bounding_box();
        ASSERT_EQ(box.has_value(), !listed.empty());
        for (size_t axis = 0; box && axis < 3; ++axis) {
            int64_t low = INT64_MAX;
            int64_t high = INT64_MIN;
            for (const auto& at : listed) {
                low = std::min(low, at[axis]);
                high = std::max(high, at[axis]);
            }
            EXPECT_EQ((*box)[axis], (Range{low, high + 1}));
        }
    }
}

BoundDefinition bound(const std::string& text) {
    return bind_unfilled(parse_definition(text, "test.op"), {}, "test.op");
}

TEST(Image, RefusesWhatItWouldHaveToEnumerateForever) {
    // Two strides that are multiples of nothing, on two axes: no two iterators can be taken apart.
    const BoundDefinition coupled = bound(
        "op coupled(a: 100000, b: 100000)\nin X f32[a * 7 + b * 3, a * 3 - b * 7] of [1000000, 1000000]\n"
        "out Y f32[a, b] = X\n");
    ElementSet set(2);
    EXPECT_THROW(
        add_image(set, coupled, coupled.tensor(0).map, whole_box(coupled), ranges_of(coupled.shape(0))),
        Error);
}

TEST(Image, TakesAWholeAxisWhereContentsAreUnknown) {
    const BoundDefinition gather =
        bound("op gather(t: 3, d: 4)\nindex id i32[t]\nin E f32[id[t], d] of [50, 8]\nout Y f32[t, d] = E\n");
    ElementSet set(2);
    add_image(set, gather, gather.tensor(1).map, whole_box(gather), ranges_of(gather.shape(1)));
    EXPECT_EQ(set.count(), 50 * 4);
}

}  // namespace
}  // namespace tessera::facts
