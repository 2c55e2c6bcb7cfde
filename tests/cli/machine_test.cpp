#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class MachineMeasuring : public ::testing::Test {
protected:
    ProcessResult tessera(std::vector<std::string> arguments, const std::string& verb = "machine") const {
        arguments.insert(arguments.begin(),
                         {"XDG_CACHE_HOME=" + folder_.path().string(), TESSERA_PROGRAM, verb});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
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

TEST_F(MachineMeasuring, AQuickMeasurementIsPrintedAndNotKept) {
    const std::string file = folder() / "host.toml";
    // Code cannot be kept either, and is not needed afterwards.
    std::filesystem::create_directory(folder() / "tessera");
    std::ofstream(folder() / "tessera" / "code") << "no folder";
    const ProcessResult result = tessera({"--measure", "--quick", "--threads", "1", "-o", file});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("set XDG_CACHE_HOME to a folder that you may write"));
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_THAT(text, HasSubstr("{ threads = 1, bytes_per_second = "));
    EXPECT_THAT(text, Not(HasSubstr("threads = 2")));
    EXPECT_FALSE(std::filesystem::exists(folder() / "tessera" / "machines"));
}

TEST_F(MachineMeasuring, ALinkOfRanksIsPrintedAndKept) {
    const ProcessResult result = tessera({"--ranks", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("{ ranks = 2, transport = \"memory\", latency_seconds = "));
    const auto kept = machine::cached_host(folder() / "tessera", machine::probe_host());
    ASSERT_TRUE(kept.has_value());
    ASSERT_NE(find_rank_link(*kept, 2), nullptr);
    EXPECT_GT(find_rank_link(*kept, 2)->bytes_per_second, 0);
    EXPECT_EQ(tessera({}).output, result.output);
    EXPECT_EQ(tessera({"--ranks", "1"}).exit_code, 2);
}

TEST_F(MachineMeasuring, RatesAreKeptForAsLongAsTheKernelsAreTheSame) {
    const std::string file = folder() / "host.toml";
    ASSERT_EQ(tessera({"--measure", "--quick", "-o", file}).exit_code, 0);
    machine::Machine measured = machine::read_machine(file);
    machine::keep_host(folder() / "tessera", machine::probe_host(), measured);
    EXPECT_THAT(tessera({"--measure"}).output, HasSubstr(machine::print_machine(measured)));
    const auto advice = [&] { return tessera({"no-model", "-o", "no.tsr"}, "compile").errors; };
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
