// Which pointers of a kernel are promised to share no memory with another.

#include "backend/cpp/buffers.h"

#include <gtest/gtest.h>

namespace tessera::testing {
namespace {

movement::ProgramBuffer in_arena(const char* name, int64_t position, int64_t bytes, bool is_written) {
    movement::ProgramBuffer buffer;
    buffer.name = name;
    buffer.position = position;
    buffer.bytes = bytes;
    buffer.is_written = is_written;
    return buffer;
}

movement::ProgramBuffer of_a_state(const char* name, int64_t position, bool is_written) {
    movement::ProgramBuffer buffer;
    buffer.name = name;
    buffer.memory = movement::MemoryKind::kState;
    buffer.position = position;
    buffer.is_written = is_written;
    return buffer;
}

TEST(Parameters, WhatIsWrittenAloneIsRestricted) {
    const std::vector<movement::ProgramBuffer> all = {in_arena("x", 0, 256, false),
                                                      in_arena("y", 256, 256, true)};
    EXPECT_EQ(backend::cpp::parameter_type(all[0], all), "const float* const");
    EXPECT_EQ(backend::cpp::parameter_type(all[1], all), "float* const __restrict");
}

TEST(Parameters, WhatReplacesAnOperandIsNot) {
    const std::vector<movement::ProgramBuffer> all = {in_arena("x", 0, 256, false),
                                                      in_arena("y", 192, 256, true)};
    EXPECT_EQ(backend::cpp::parameter_type(all[1], all), "float* const");
}

TEST(Parameters, WhereRepetitionsLieApartNothingIsPromised) {
    std::vector<movement::ProgramBuffer> all = {in_arena("x", 0, 256, false), in_arena("y", 256, 256, true)};
    all[0].repetition_stride = movement::Index(512);
    EXPECT_EQ(backend::cpp::parameter_type(all[1], all), "float* const");
}

TEST(Parameters, StatesAreApartButForTheSameOne) {
    const std::vector<movement::ProgramBuffer> all = {
        of_a_state("keys", 0, true), of_a_state("values", 1, true), of_a_state("values_before", 1, false),
        in_arena("x", 0, 256, false)};
    EXPECT_EQ(backend::cpp::parameter_type(all[0], all), "float* const __restrict");
    EXPECT_EQ(backend::cpp::parameter_type(all[1], all), "float* const");
}

}  // namespace
}  // namespace tessera::testing
