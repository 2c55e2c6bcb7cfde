#include "chip/partition/elements.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ir/facts/enumerated.h"
#include "ir/random_definition.h"

// Sets of elements against sets of numbers, and what boxes touch against a walk over every iteration.
namespace tessera::partition {
namespace {

std::set<int64_t> numbers_in(const Elements& elements) {
    std::set<int64_t> numbers;
    for (const facts::Range& range : elements.ranges())
        for (int64_t at = range.first; at < range.last; ++at) numbers.insert(at);
    return numbers;
}

Elements drawn(std::mt19937_64& random) {
    std::vector<facts::Range> ranges;
    for (size_t i = random() % 6; i > 0; --i) {
        const auto first = static_cast<int64_t>(random() % 40);
        ranges.push_back({first, first + static_cast<int64_t>(random() % 8)});
    }
    return Elements::of_ranges(ranges);
}

TEST(Elements, AreSetsOfNumbers) {
    std::mt19937_64 random(5);
    for (int draw = 0; draw < 2000; ++draw) {
        const Elements a = drawn(random), b = drawn(random);
        std::set<int64_t> both, rest;
        for (const int64_t number : numbers_in(a))
            (numbers_in(b).contains(number) ? both : rest).insert(number);
        EXPECT_EQ(numbers_in(common(a, b)), both);
        EXPECT_EQ(numbers_in(without(a, b)), rest);
        EXPECT_EQ(unite(common(a, b), without(a, b)), a);
        const auto parts = static_cast<int64_t>(1 + random() % 5);
        Elements all;
        for (int64_t j = 0; j < parts; ++j) {
            const Elements part = even_part(a, parts, j);
            EXPECT_TRUE(common(all, part).empty());
            EXPECT_LE(part.size(), (a.size() + parts - 1) / parts);
            all = unite(all, part);
        }
        EXPECT_EQ(all, a);
    }
}

TEST(Elements, OfBoxesAreThoseOfEveryIteration) {
    std::mt19937_64 random(6);
    for (uint64_t seed = 0; seed < 150; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 400});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const DefinitionFile file = parse_definition_file(text, "drawn.op");
        facts::BoundDefinition bound = facts::bind_test(file, "drawn.op");
        const facts::Enumerated all(file, "drawn.op");
        facts::IterationBox box;
        for (const int64_t extent : bound.extents.iterators) {
            const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(extent));
            box.push_back(
                {first, first + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(extent - first))});
        }
        for (size_t t = 0; t < file.definition.tensors.size(); ++t) {
            const std::vector<int64_t>& shape = bound.shape(static_cast<int>(t));
            std::set<int64_t> expected;
            for (const facts::Point& point : all.box()) {
                bool is_in_box = true;
                for (size_t i = 0; i < box.size(); ++i)
                    is_in_box = is_in_box && point[i] >= box[i].first && point[i] < box[i].last;
                if (!is_in_box) continue;
                for (const auto& access : all.accesses(static_cast<int>(t))) {
                    const facts::Point at = all.coordinates(access.map, point);
                    int64_t position = 0;
                    bool is_inside = true;
                    for (size_t a = 0; a < shape.size(); ++a) {
                        is_inside = is_inside && at[a] >= 0 && at[a] < shape[a];
                        position = position * shape[a] + at[a];
                    }
                    if (is_inside) expected.insert(position);
                }
            }
            EXPECT_EQ(numbers_in(elements_of(bound, t, box)), expected) << "tensor " << t;
        }
    }
}

}  // namespace
}  // namespace tessera::partition
