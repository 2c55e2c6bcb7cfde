#include "chip/partition/held_numbers.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace tessera::partition {
namespace {

TEST(HeldNumbers, AreAMapFromElements) {
    std::mt19937_64 random(3);
    HeldNumbers held;
    std::map<int64_t, double> expected;
    for (int step = 0; step < 3000; ++step) {
        std::vector<facts::Range> ranges;
        for (size_t i = random() % 4; i > 0; --i) {
            const auto first = static_cast<int64_t>(random() % 50);
            ranges.push_back({first, first + static_cast<int64_t>(random() % 9)});
        }
        const Elements elements = Elements::of_ranges(ranges);
        if (random() % 3 == 0) {
            held.drop(elements);
            for (const facts::Range& range : elements.ranges())
                for (int64_t at = range.first; at < range.last; ++at) expected.erase(at);
        } else {
            std::vector<double> numbers;
            for (const facts::Range& range : elements.ranges())
                for (int64_t at = range.first; at < range.last; ++at) {
                    numbers.push_back(static_cast<double>(random() % 1000));
                    expected[at] = numbers.back();
                }
            held.put(elements, numbers);
        }
        std::vector<double> whole(64, -1), values;
        std::vector<bool> is_there(64, false);
        held.copy_to(whole, is_there);
        ASSERT_EQ(held.count(), std::ssize(expected));
        for (int64_t at = 0; at < 64; ++at) {
            const auto found = expected.find(at);
            ASSERT_EQ(is_there[static_cast<size_t>(at)], found != expected.end());
            ASSERT_EQ(whole[static_cast<size_t>(at)], found == expected.end() ? -1 : found->second);
        }
        for (const auto& [element, number] : expected) values.push_back(number);
        ASSERT_EQ(held.numbers(held.elements()), values);
    }
}

}  // namespace
}  // namespace tessera::partition
