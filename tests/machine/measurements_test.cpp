// Measurements of a machine: the round trip through its text, and refusals of impossible values.

#include "machine/measurements.h"

#include <string>

#include <gtest/gtest.h>

#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr const char* kMeasured = R"(name = "measured"
isa = "x86-64"
cores = 2
cache_line_bytes = 64
barriers = [
    { threads = 2, seconds = 1.5e-07 },
]
rank_links = [
    { ranks = 2, transport = "memory", latency_seconds = 4.1e-07, bytes_per_second = 5800000000.0 },
    { ranks = 4, transport = "memory", latency_seconds = 6e-07, bytes_per_second = 5e+09 },
    { ranks = 2, transport = "mpi", latency_seconds = 9.5e-07, bytes_per_second = 4e+09 },
]

[compiler]
flags = []

[[memory]]
name = "L2"
capacity_bytes = 1048576
shared_by_cores = 1
latency_seconds = 3.7e-09
read_bandwidth = [
    { threads = 1, bytes_per_second = 1.1e+11, prefetch_bytes = 0 },
]

[[memory]]
name = "memory"
capacity_bytes = 1073741824
shared_by_cores = 2
read_bandwidth = [
    { threads = 1, bytes_per_second = 33000000000.0, prefetch_bytes = 1024 },
    { threads = 2, bytes_per_second = 37000000000.0, prefetch_bytes = 512 },
]

[[unit]]
name = "sse2"
kind = "vector"
registers = 16
strided_rows = false
operands = [
    { name = "A", type = "f32", lanes = "i4" },
    { name = "B", type = "f32", lanes = "i4" },
    { name = "C", type = "f32", lanes = "i4" },
]
peaks = [
    { level = "registers", operations_per_second = 2.9e+10 },
    { level = "L2", operations_per_second = 2.8e+10 },
]

[[micro_kernel]]
name = "contract"
types = { A = "f32", B = "q8_0", C = "f32" }
parameters = { groups = 2, lanes = 16, rows = 12 }
sizes = { k = 1024, m = 12, n = 512 }
level = "L2"
seconds = 1.2e-05

[[micro_kernel]]
name = "loops"
types = { C = "f32" }
parameters = { lanes = 16 }
sizes = { d = 1024, t = 2 }
work = { flops = 128, loads = 384, steps = 128 }
level = "L2"
seconds = 2.4e-07
)";

std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of_measured(const std::string& text) {
    try {
        parse_machine(text, "m.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Measurements, AreReadAndPrintedInTheFormOfTheFiles) {
    const Machine machine = parse_machine(kMeasured, "m.toml");
    ASSERT_EQ(machine.memory[1].read_bandwidth.size(), 2U);
    EXPECT_EQ(machine.memory[1].read_bandwidth[1],
              (ReadBandwidth{.threads = 2, .bytes_per_second = 3.7e10, .prefetch_bytes = 512}));
    EXPECT_EQ(machine.barriers, (std::vector<BarrierCost>{{.threads = 2, .seconds = 1.5e-7}}));
    ASSERT_EQ(machine.micro_kernels.size(), 2U);
    EXPECT_EQ(machine.micro_kernels[1].work.at("loads"), 384);
    EXPECT_EQ(machine.micro_kernels[0].types.at("B"), "q8_0");
    EXPECT_EQ(machine.micro_kernels[0].sizes.at("m"), 12);
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
    EXPECT_EQ(print_machine(parse_machine(print_machine(machine), "printed")), print_machine(machine));
}

TEST(Measurements, BelongToTheHash) {
    const Machine machine = parse_machine(kMeasured, "m.toml");
    Machine other = machine;
    other.memory[1].read_bandwidth[0].prefetch_bytes = 2048;
    EXPECT_NE(content_hash(other), content_hash(machine));
    other = machine;
    other.micro_kernels.clear();
    EXPECT_NE(content_hash(other), content_hash(machine));
}

TEST(Measurements, BandwidthOfAsManyThreadsAsWereMeasured) {
    const Machine machine = parse_machine(kMeasured, "m.toml");
    EXPECT_EQ(find_bandwidth(machine.memory[1], 1)->threads, 1);
    EXPECT_EQ(find_bandwidth(machine.memory[1], 2)->threads, 2);
    EXPECT_EQ(find_bandwidth(machine.memory[1], 5)->threads, 2);
    EXPECT_EQ(find_bandwidth(MemoryLevel(), 1), nullptr);
}

TEST(Measurements, LinksOfRanksByTransportAndNumber) {
    Machine machine = parse_machine(kMeasured, "m.toml");
    ASSERT_EQ(machine.rank_links.size(), 3U);
    EXPECT_EQ(find_rank_link(machine, 2)->transport, "memory");
    EXPECT_EQ(find_rank_link(machine, 3), nullptr);
    set_rank_link(machine,
                  {.ranks = 3, .transport = "memory", .latency_seconds = 1e-6, .bytes_per_second = 1e9});
    set_rank_link(machine,
                  {.ranks = 2, .transport = "mpi", .latency_seconds = 2e-6, .bytes_per_second = 2e9});
    ASSERT_EQ(machine.rank_links.size(), 4U);
    EXPECT_EQ(machine.rank_links[1].ranks, 3);
    EXPECT_EQ(machine.rank_links[3].latency_seconds, 2e-6);
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
}

TEST(Measurements, PeakByTheLevelThatFeeds) {
    const ComputeUnit unit = parse_machine(kMeasured, "m.toml").units[0];
    EXPECT_EQ(find_peak(unit, "L2")->operations_per_second, 2.8e10);
    EXPECT_EQ(find_peak(unit, "memory"), nullptr);
}

struct MeasuredRefusal {
    const char* name;
    const char* from;
    const char* to;
    const char* message;
};

class MeasurementsRefuse : public ::testing::TestWithParam<MeasuredRefusal> {};

TEST_P(MeasurementsRefuse, WithTheReason) {
    EXPECT_EQ(error_of_measured(with_replaced(kMeasured, GetParam().from, GetParam().to)),
              GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeasurementsRefuse,
    ::testing::Values(
        MeasuredRefusal{"transport", "\"mpi\"", "\"tcp\"",
                        "m.toml:11: `transport`: is tcp, expected memory or mpi"},
        MeasuredRefusal{
            "order_of_links", "ranks = 4", "ranks = 2",
            "m.toml:10: `ranks`: is not above that of the entry before (list them by transport, then "
            "by ranks)"},
        MeasuredRefusal{"negative_rate", "33000000000.0", "-1.0",
                        "m.toml:31: `bytes_per_second`: is -1, expected more than 0"},
        MeasuredRefusal{"zero_rate", "33000000000.0", "0",
                        "m.toml:31: `bytes_per_second`: is 0, expected more than 0"},
        MeasuredRefusal{"infinite_rate", "2.9e+10", "inf",
                        "m.toml:46: `operations_per_second`: is inf, expected more than 0"},
        MeasuredRefusal{"no_number", "1.2e-05", "nan", "m.toml:56: `seconds`: is nan, expected more than 0"},
        MeasuredRefusal{"rate_as_text", "2.9e+10", "\"fast\"",
                        "m.toml:46: `operations_per_second`: is string, expected a number"},
        MeasuredRefusal{"missing_rate", ", seconds = 1.5e-07", "", "m.toml:6: `seconds`: is missing"},
        MeasuredRefusal{"negative_prefetch", "prefetch_bytes = 1024", "prefetch_bytes = -1",
                        "m.toml:31: `prefetch_bytes`: is -1, expected 0 to 1048576"},
        MeasuredRefusal{"threads_descend", "threads = 2, bytes", "threads = 1, bytes",
                        "m.toml:30: `read_bandwidth`: lists 1 threads after 1, expected ascending numbers"},
        MeasuredRefusal{"one_thread_meets_nobody", "{ threads = 2, seconds", "{ threads = 1, seconds",
                        "m.toml:6: `threads`: is 1, expected 2 to 1048576"},
        MeasuredRefusal{"unknown_level_of_a_peak", "level = \"L2\", op", "level = \"L4\", op",
                        "m.toml:47: `level`: is L4, expected registers or a memory of this machine"},
        MeasuredRefusal{"level_twice", "level = \"L2\", op", "level = \"registers\", op",
                        "m.toml:47: `level`: is registers for the second time"},
        MeasuredRefusal{"unknown_level_of_a_kernel", "level = \"L2\"\nsec", "level = \"registers\"\nsec",
                        "m.toml:55: `level`: is registers, which is no memory of this machine"},
        MeasuredRefusal{"huge_size", "k = 1024", "k = 99999999999999",
                        "m.toml:54: `k`: is 99999999999999, expected 1 to 1099511627776"},
        MeasuredRefusal{"no_rows", "rows = 12", "rows = 0", "m.toml:53: `rows`: is 0, expected 1 to 65536"},
        MeasuredRefusal{"huge_sizes", "k = 1024, m = 12", "k = 1099511627776, m = 1099511627776",
                        "m.toml:54: `sizes`: multiply to more than 1152921504606846976"},
        MeasuredRefusal{
            "name_of_no_parameter", "lanes = 16", "\"la nes\" = 16",
            "m.toml:53: has a name that is not 1 to 40 letters (digits and underscores count as letters)"},
        MeasuredRefusal{"unknown_field", "{ threads = 2, seconds", "{ threads = 2, core = 1, seconds",
                        "m.toml:6: `core`: is not a known field"},
        MeasuredRefusal{"not_a_table", "types = { A = \"f32\", B = \"q8_0\", C = \"f32\" }", "types = 1",
                        "m.toml:52: `types`: is integer, expected table"}),
    [](const auto& test) { return std::string(test.param.name); });

/// The first one's text.
std::string micro_kernel_text() {
    const std::string text = kMeasured, head = "\n[[micro_kernel]]";
    const size_t begin = text.find(head);
    return text.substr(begin, text.find(head, begin + 1) - begin);
}

TEST(Measurements, TheSameInstanceTwiceIsRefused) {
    const std::string text = kMeasured, kernel = micro_kernel_text();
    EXPECT_EQ(error_of_measured(text + with_replaced(kernel, "1.2e-05", "1.3e-05")),
              "m.toml:68: `name`: is contract, timed before with the same types, parameters, sizes, work and "
              "level");
    EXPECT_EQ(error_of_measured(text + with_replaced(kernel, "m = 12", "m = 1")), "accepted");
}

TEST(Measurements, HugeTablesAreRefusedBeforeTheyAreParsed) {
    std::string text = kMeasured;
    const std::string kernel = micro_kernel_text();
    for (int i = 0; text.size() <= size_t{1} << 20; ++i)
        text += with_replaced(kernel, "k = 1024", "k = " + std::to_string(i + 1));
    EXPECT_TRUE(error_of_measured(text).starts_with("m.toml: is ")) << error_of_measured(text);
}

}  // namespace
}  // namespace tessera::machine
