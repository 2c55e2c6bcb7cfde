#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/measure/measure_machine.h"
#include "machine/host_cache.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kProgram = R"(graph "program"
input X: f32[64]
value Y: f32[64]
block main
  node twice(X) -> Y
    op twice(i: 64)
    in X f32[i]
    out Y f32[i] = X + X
output Y
)";

class MachineMeasuring : public ::testing::Test {
protected:
    ProcessResult tessera(std::vector<std::string> arguments, const std::string& verb = "machine") const {
        arguments.insert(arguments.begin(),
                         {"--unset=TESSERA_NO_MEASURE", "XDG_CACHE_HOME=" + folder_.path().string(),
                          TESSERA_PROGRAM, verb});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }
    /// Messages of compiling a program, for this machine unless told otherwise.
    std::string compile(const std::vector<std::string>& more = {}) const {
        const std::string program = folder() / "program.ir";
        std::ofstream(program) << kProgram;
        std::vector<std::string> arguments = {program, "-q", "-o", folder() / "program.tsr"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = tessera(arguments, "compile");
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.errors;
    }
    std::optional<machine::Machine> kept() const {
        return machine::cached_host(folder() / "tessera", machine::probe_host());
    }
    const std::filesystem::path& folder() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

TEST_F(MachineMeasuring, DescribesWithoutMeasuring) {
    const ProcessResult result = tessera({});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("name = \"host\""));
    EXPECT_THAT(result.output, Not(HasSubstr("bytes_per_second")));
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(MachineMeasuring, PrintsAnyDescriptionInTodaysFormat) {
    const std::string root = TESSERA_SOURCE_DIR;
    const ProcessResult older = tessera({root + "/tests/machine/older/chips/small-16.toml"});
    EXPECT_EQ(older.exit_code, 0) << older.errors;
    EXPECT_THAT(older.output, HasSubstr("[[level.module]]"));
    EXPECT_EQ(tessera({root + "/machines/chips/small-16.toml"}).output, older.output);
    const ProcessResult json = tessera({root + "/machines/clusters/nodes.toml", "--json"});
    EXPECT_THAT(json.output, HasSubstr("\"topology\" : \"all-to-all\""));
    const ProcessResult both = tessera({root + "/machines/avx2.toml", "--measure"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_THAT(both.errors, HasSubstr("only this machine can be measured"));
}

// A file of the wrong kind is refused with what it lacks.
TEST_F(MachineMeasuring, NothingIsCompiledForACluster) {
    const std::string nodes = std::string(TESSERA_SOURCE_DIR) + "/machines/clusters/nodes.toml";
    const std::string program = folder() / "program.ir";
    std::ofstream(program) << kProgram;
    const ProcessResult result =
        tessera({program, "-o", folder() / "program.tsr", "--machine", nodes}, "compile");
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.errors, HasSubstr("nodes.toml: `isa`: is missing, so this is no machine that code can "
                                         "be compiled for"));
}

TEST_F(MachineMeasuring, AQuickMeasurementIsPrintedAndNotKept) {
    const std::string file = folder() / "host.toml";
    // Code cannot be kept either, and is not needed afterwards.
    std::filesystem::create_directory(folder() / "tessera");
    std::ofstream(folder() / "tessera" / "code") << "no folder";
    const std::string rate = "{ threads = 1, bytes_per_second = ";
    std::string text;
    // A busy machine may have no time for a rate.
    for (int attempt = 0; attempt < 3 && text.find(rate) == std::string::npos; ++attempt) {
        const ProcessResult result = tessera({"--measure", "--quick", "--threads", "1", "-o", file});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_THAT(result.errors, HasSubstr("set XDG_CACHE_HOME to a folder that you may write"));
        std::ifstream in(file);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_THAT(text, HasSubstr(rate));
    EXPECT_THAT(text, Not(HasSubstr("threads = 2")));
    EXPECT_FALSE(std::filesystem::exists(folder() / "tessera" / "machines"));
}

TEST_F(MachineMeasuring, ALinkOfRanksIsPrintedAndKept) {
    const ProcessResult result = tessera({"--ranks", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("{ ranks = 2, transport = \"memory\", latency_seconds = "));
    ASSERT_TRUE(kept().has_value());
    ASSERT_NE(find_rank_link(*kept(), 2), nullptr);
    EXPECT_GT(find_rank_link(*kept(), 2)->bytes_per_second, 0);
    EXPECT_EQ(tessera({}).output, result.output);
    EXPECT_EQ(tessera({"--ranks", "1"}).exit_code, 2);
}

TEST_F(MachineMeasuring, NothingIsMeasuredForNothing) {
    EXPECT_THAT(tessera({"no-model", "-o", "no.tsr"}, "compile").errors, Not(HasSubstr("measur")));
    EXPECT_THAT(compile({"--no-measure"}), IsEmpty());
    EXPECT_THAT(compile({"--machine", TESSERA_SOURCE_DIR "/machines/generic-x86-64.toml"}), IsEmpty());
    EXPECT_EQ(kept(), std::nullopt);
}

TEST_F(MachineMeasuring, TheFirstCompilationMeasuresOnceAndKeepsIt) {
    // A link of ranks that was measured before stays.
    machine::Machine measured = machine::probe_host();
    measured.rank_links = {
        {.ranks = 2, .transport = "memory", .latency_seconds = 1e-6, .bytes_per_second = 1e10}};
    machine::keep_host(folder() / "tessera", machine::probe_host(), measured);
    const std::string said = compile();
    EXPECT_THAT(said, HasSubstr("measuring this machine once"));
    ASSERT_TRUE(kept().has_value());
    EXPECT_EQ(kept()->rank_links, measured.rank_links);
    measured = *kept();
    EXPECT_NE(measured.measured_with, "");
    // A busy machine may have no time for a rate, and then says so.
    EXPECT_EQ(measured.memory.back().read_bandwidth.empty(),
              said.find("the bandwidth of the main memory") != std::string::npos)
        << said;
    EXPECT_THAT(measured.micro_kernels, IsEmpty());
    EXPECT_THAT(compile(), IsEmpty());
    EXPECT_EQ(kept(), measured);
}

TEST_F(MachineMeasuring, RatesAreKeptForAsLongAsTheKernelsAreTheSame) {
    const std::string file = folder() / "host.toml";
    ASSERT_EQ(tessera({"--measure", "--quick", "-o", file}).exit_code, 0);
    machine::Machine measured = machine::read_machine(file);
    // As if it had taken its time; a busy machine leaves it none for the memory.
    measured.memory.back().read_bandwidth = {{.threads = 1, .bytes_per_second = 1e10}};
    measured.micro_kernels = {{.name = "loops",
                               .types = {{"C", "f32"}},
                               .parameters = {{"lanes", 16}},
                               .sizes = {{"i", 160}},
                               .work = {{"loads", 10}},
                               .level = measured.memory[1].name,
                               .seconds = 1e-6}};
    measured.measured_with = measure::kernels_digest(
        measured, {.include_directory = TESSERA_SOURCE_DIR "/include", .search_path = std::getenv("PATH")});
    machine::keep_host(folder() / "tessera", machine::probe_host(), measured);
    EXPECT_THAT(tessera({"--measure"}).output, HasSubstr(machine::print_machine(measured)));
    const auto advice = [&] { return tessera({file, "-o", "no.tsr"}, "compile").errors; };
    EXPECT_THAT(advice(), Not(HasSubstr("measured")));

    measured.measured_with = "00ff";
    machine::keep_host(folder() / "tessera", machine::probe_host(), measured);
    EXPECT_THAT(advice(), HasSubstr("was measured with other kernels or another compiler"));
    EXPECT_THAT(tessera({}).output, HasSubstr(machine::print_machine(measured)));
}

TEST_F(MachineMeasuring, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(tessera({"--threads", "0"}).exit_code, 2);
    EXPECT_EQ(tessera({"--threads", "many"}).exit_code, 2);
    EXPECT_EQ(tessera({"--fast"}).exit_code, 2);
    const ProcessResult result = tessera({"--measure", "--threads", "1000000"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr("`--threads`: is 1000000, but this process may use "));
}

}  // namespace
}  // namespace tessera
