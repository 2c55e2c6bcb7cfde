#include "nest/nests/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
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
    EXPECT_EQ(file.machine, (machine::PeakRates{1e9, 100, 3}));
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

TEST(KernelFiles, HoldMachinesWithLevels) {
    const KernelFile file =
        read_kernel_file(std::string(kProducts) +
                             "level memory\nlevel L2 bandwidth 1e9\n"
                             "level L1 capacity 400 bandwidth 4e9 per unit\npeak 2e9 units 3\n"
                             "time c: 2e-9 + 1e-10 m n\ncost overlap\nsizes multiple 4\n"
                             "reorder L2 L1\n",
                         "t.tiers");
    const LevelMachine want{
        .levels = {{"memory", {}, 0, false}, {"L2", {}, 1e9, false}, {"L1", 400, 4e9, true}},
        .peak = 2e9,
        .units = 3,
        .times = {{"c", {{2e-9, {}}, {1e-10, {"m", "n"}}}}}};
    EXPECT_EQ(*file.levels, want);
    EXPECT_EQ(file.cost, "overlap");
    EXPECT_EQ(file.sizes->step, 4);
    EXPECT_EQ(*file.reorder, (std::vector<std::string>{"L2", "L1"}));
}

TEST(KernelFiles, RefuseMachinesThatAreNone) {
    const std::string operators(kProducts);
    const std::string memory = operators + "level memory\n";
    const std::string two = memory + "level L1 bandwidth 1e9 per unit\n";
    EXPECT_THAT(error_of(memory + "peak 1\n"), HasSubstr("has 1 levels, expected memory and one more"));
    EXPECT_THAT(error_of(two), HasSubstr("`peak`: is missing"));
    EXPECT_THAT(error_of(operators + "level memory bandwidth 1\n"), HasSubstr("has no bandwidth"));
    EXPECT_THAT(error_of(memory + "level L1\n"), HasSubstr("`L1`: has no bandwidth"));
    EXPECT_THAT(error_of(memory + "level memory bandwidth 1\n"), HasSubstr("it names one already"));
    EXPECT_THAT(error_of(memory + "level unit bandwidth 1\n"), HasSubstr("`unit` has another meaning"));
    EXPECT_THAT(error_of(two + "level L0 bandwidth 1\n"), HasSubstr("inside of a level that is `per unit`"));
    EXPECT_THAT(error_of(two + "peak 1\ntime x: 1\n"), HasSubstr("names `x`, which is no operator"));
    EXPECT_THAT(error_of(two + "peak 1\ntime c: 1 h\n"), HasSubstr("names `h`, which is no iterator of c"));
    EXPECT_THAT(error_of(two + "peak 1\nvisible C\n"), HasSubstr("no place beside memory levels"));
    EXPECT_THAT(error_of(two + "peak 1\ncost serial\ncost serial\n"), HasSubstr("stands twice"));
    EXPECT_THAT(error_of(operators + "sizes every\n"), HasSubstr("no memory levels"));
}

}  // namespace
}  // namespace tessera::nests
