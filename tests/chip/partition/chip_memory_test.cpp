#include "chip/partition/chip_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/small_chips.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

TEST(ChipMemory, CountsBytesOfEachCoreAndRefusesTooMany) {
    ChipMemory memory(small_chip({.cores = 2, .sram_bytes = 100, .reserved_bytes = 20}), "program");
    const NumbersKey value{}, operand{NumbersKey::Use::kOperand, 3, 1};
    const Elements ten(facts::Range{0, 10}), all(facts::Range{0, 21});
    memory.put(0, value, 32, ten, std::vector<double>(10, 1));
    memory.put(0, value, 32, ten, std::vector<double>(10, 2));  // replaces them
    memory.put(1, operand, 4, ten, std::vector<double>(10, 3));
    EXPECT_EQ(memory.peaks(), (std::vector<int64_t>{40, 5}));
    EXPECT_EQ(memory.at(0, value).numbers(Elements(facts::Range{4, 5})), std::vector<double>{2});
    EXPECT_EQ(memory.at(1, value).count(), 0);
    memory.drop(0, value, Elements(facts::Range{0, 9}));
    memory.drop(operand);
    memory.set_time(12.5);
    memory.put(0, operand, 32, Elements(facts::Range{0, 19}), std::vector<double>(19, 0));
    EXPECT_EQ(memory.peaks(), (std::vector<int64_t>{80, 5}));
    try {
        memory.put(1, operand, 64, all, std::vector<double>(21, 0));
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "program: `core 1`: holds 168 bytes at cycle 12.500, and has 100");
    }
}

}  // namespace
}  // namespace tessera::partition
