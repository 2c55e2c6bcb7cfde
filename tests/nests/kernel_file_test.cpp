#include "nests/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nests/example.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        (void)read_kernel_file(text, "t.nest");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(KernelFiles, HoldOperatorsAndWhatStandsBelow) {
    const KernelFile file =
        read_kernel_file(std::string(kProducts) +
                             "visible C  # and nothing else\nmachine bandwidth 1e9 peak 100 units 3\n"
                             "nest m:4 # outer\n{ c\te }\n",
                         "t.nest");
    ASSERT_EQ(file.operators.size(), 2U);
    EXPECT_EQ(file.operators[1].definition.name, "e");
    EXPECT_EQ(file.visible, std::vector<std::string>{"C"});
    EXPECT_EQ(file.machine, (MachineRates{1e9, 100, 3}));
    EXPECT_EQ(file.nest, "m:4\n{ c\te }");
    EXPECT_FALSE(file.batch || file.multiple || file.capacity);
}

TEST(KernelFiles, OfSpacesHaveNumbers) {
    const KernelFile file =
        read_kernel_file(std::string(kProducts) + "batch m h\nmultiple 4\ncapacity 900", "t");
    EXPECT_EQ(file.batch, (std::vector<std::string>{"m", "h"}));
    EXPECT_EQ(file.multiple, 4);
    EXPECT_EQ(file.capacity, 900);
    EXPECT_FALSE(file.nest);
}

TEST(KernelFiles, ErrorsNameTheLine) {
    const std::string good(kProducts);
    EXPECT_THAT(error_of("\n\nop c(m: 4)\nin A f32[q]\nout C f32[m] = A\n"), HasSubstr("t.nest:4: "));
    EXPECT_THAT(error_of(good + "visible C\nop f(m: 4)\n"), HasSubstr("t.nest:8: `op`: follows a line"));
    EXPECT_THAT(error_of(good + "visible C\nwhere m < 2\n"),
                HasSubstr("t.nest:8: `where`: has no meaning below the operators"));
    EXPECT_THAT(error_of("in A f32[m]\n"), HasSubstr("t.nest:1: `in`: stands in no operator"));
    EXPECT_THAT(error_of("visible C\n"), HasSubstr("t.nest:1: `visible`: stands above the operators"));
    EXPECT_THAT(error_of(good + "multiple 4\nmultiple 8\n"), HasSubstr("t.nest:8: `multiple`: stands twice"));
    EXPECT_THAT(error_of(good + "machine bandwidth 0 peak 1 units 1\n"),
                HasSubstr("`bandwidth`: is `0`, expected a number above 0"));
    EXPECT_THAT(error_of(good + "machine bandwidth 1 units 1\n"), HasSubstr("expected `peak`"));
    EXPECT_THAT(error_of(good + "capacity -4\n"), HasSubstr("t.nest:7: "));
    EXPECT_THAT(error_of(""), HasSubstr("holds no operator"));
}

TEST(KernelFiles, RefuseWhatNestsDoNotHave) {
    for (const std::string line : {"tile m 2 at 0", "lanes 4", "unit A<m4>"})
        EXPECT_THAT(error_of("op c(m: 4)\nin A f32[m]\nout C f32[m] = A\ntest\n" + line + "\n"),
                    HasSubstr("has no place in a kernel"));
    EXPECT_THAT(error_of("op c(m: 4)\nin A f32[m]\nupdate C f32[m] = A\n"),
                HasSubstr("has no place in a kernel"));
}

TEST(KernelFiles, AreBounded) {
    EXPECT_THAT(error_of(std::string(2'000'000, '\n')), HasSubstr("expected at most 1048576"));
    std::string many;
    for (int i = 0; i < 65; ++i)
        many += "op c" + std::to_string(i) + "(m: 4)\nin A f32[m]\nout C f32[m] = A\n";
    EXPECT_THAT(error_of(many), HasSubstr("one operator more than 64"));
}

}  // namespace
}  // namespace tessera::nests
