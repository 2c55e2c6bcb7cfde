// `tessera inspect --plan --costs`: predicted times as comments on a plan that reads as before; `--egraph`:
// and `--search`: the searches for layouts and kernels, repeated.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/round_machine.h"
#include "machine/machine_text.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Inspecting : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder();
        std::ofstream(path("round.toml")) << machine::print_machine(testing::round_machine());
        const ProcessResult compiled = compile("a.tsr", {"--dump", path("dump")});
        ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
    }
    static void TearDownTestSuite() { delete folder_; }

    static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
    static ProcessResult tessera(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"XDG_CACHE_HOME=" + path("cache"), TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }
    static ProcessResult compile(const std::string& out, const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {
            "compile",   std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny",
            "-o",        path(out),
            "--machine", path("round.toml"),
            "--quiet"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return tessera(std::move(arguments));
    }
    static std::string costs() {
        const ProcessResult result =
            tessera({"inspect", path("a.tsr"), "--plan", "--costs", "--machine", path("round.toml")});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    }
    static std::string contents(const std::string& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static std::string plan(const std::string& artefact) {
        return tessera({"inspect", path(artefact), "--plan"}).output;
    }

private:
    static inline TemporaryFolder* folder_ = nullptr;
};

TEST_F(Inspecting, CostsAreCommentsOnThePlan) {
    std::istringstream lines(costs());
    std::string without, line;
    int comments = 0;
    while (std::getline(lines, line)) {
        const bool is_cost = line.find(" us at ") != std::string::npos || line.starts_with("# Predicted by ");
        comments += is_cost;
        if (!is_cost) without += line + "\n";
    }
    EXPECT_EQ(without, plan("a.tsr"));
    EXPECT_GT(comments, 20);
}

TEST_F(Inspecting, APlanWithCostsCompilesToTheSame) {
    std::ofstream(path("costs.toml")) << costs();
    const ProcessResult compiled = compile("b.tsr", {"--plan", path("costs.toml")});
    ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
    EXPECT_EQ(plan("b.tsr"), plan("a.tsr"));
}

TEST_F(Inspecting, AStepTakesTheSumOfItsKernels) {
    const std::regex of_kernel(R"(^    # ([0-9.]+) us at (\w+) \(compute [0-9.]+.*?\)(?:, (\d+) times)?$)"),
        of_step(R"(^# ([0-9.]+) us at (\w+)$)");
    std::map<std::string, double> sums, steps, roundings;
    const auto half_a_digit = [](const std::string& number) {
        return 0.501 * std::pow(10.0, -static_cast<double>(number.size() - number.find('.') - 1));
    };
    std::istringstream lines(costs());
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, of_kernel)) {
            const double times = match[3].matched ? std::stod(match[3]) : 1;
            sums[match[2]] += times * std::stod(match[1]);
            roundings[match[2]] += times * half_a_digit(match[1]);
        } else if (std::regex_match(line, match, of_step)) {
            steps[match[2]] = std::stod(match[1]);
            roundings[match[2]] += half_a_digit(match[1]);
        }
    }
    ASSERT_TRUE(steps.contains("decode_256") && steps.contains("prefill_256"));
    ASSERT_EQ(steps.size(), sums.size());
    for (const auto& [point, seconds] : steps) {
        EXPECT_GT(seconds, 0) << point;
        EXPECT_NEAR(seconds, sums[point], roundings[point]) << point;
    }
    EXPECT_GT(steps["prefill_256"], steps["decode_256"]);
}

TEST_F(Inspecting, CostsNeedTheMachineAndAreRoofsIfItWasNotMeasured) {
    const ProcessResult other = tessera({"inspect", path("a.tsr"), "--plan", "--costs"});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.errors, HasSubstr("`--costs`: is for machine round ("));
    EXPECT_THAT(other.errors, HasSubstr("give the measured description of a machine with --machine"));
    machine::Machine described = testing::round_machine();
    described.micro_kernels.clear();
    std::ofstream(path("described.toml")) << machine::print_machine(described);
    const ProcessResult unmeasured =
        tessera({"inspect", path("a.tsr"), "--plan", "--costs", "--machine", path("described.toml")});
    EXPECT_EQ(unmeasured.exit_code, 0) << unmeasured.errors;
    EXPECT_THAT(unmeasured.output, HasSubstr("# Roofs that such a machine typically has, no predictions: "
                                             "nothing was measured of machine round ("));
    EXPECT_THAT(unmeasured.output, HasSubstr(" us at decode_256 (compute "));
}

TEST_F(Inspecting, TheEGraphIsThatOfTheCompilation) {
    const auto written = [](const std::string& extension) {
        const std::string file = path("layouts" + extension);
        const ProcessResult result =
            tessera({"inspect", path("a.tsr"), "--egraph", file, "--machine", path("round.toml")});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_EQ(result.output, "");
        return contents(file);
    };
    std::istringstream dump(contents(path("dump/05-layouts.txt")));
    std::string sizes,
        costs;  // "123 e-nodes in 45 classes, ...", "1.000 us, bound 1.000 us, 6 conflicts: ..."
    ASSERT_TRUE(std::getline(dump, sizes) && std::getline(dump, costs));
    const std::string page = written(".html");
    EXPECT_THAT(page, HasSubstr(sizes.substr(0, sizes.find(','))));
    EXPECT_THAT(page,
                HasSubstr("<p>" + costs.substr(0, costs.find(',')) + " by the weights of the points (64 x "));
    EXPECT_THAT(page, HasSubstr("<b>layer_q</b> of layer_q: <code>matmul("));
    EXPECT_LT(page.size(), size_t{2} << 20);
    EXPECT_EQ(written(".html"), page);
    const std::string dot = written(".dot");
    EXPECT_THAT(dot, HasSubstr("digraph egraph {"));
    EXPECT_THAT(dot, HasSubstr("[label=\"%layer_q_weight\\n"));
}

TEST_F(Inspecting, TheSearchForKernelsIsThatOfTheCompilation) {
    const auto searched = [](std::vector<std::string> more) {
        std::vector<std::string> words = {"inspect", path("a.tsr"), "--search", "--machine",
                                          path("round.toml")};
        words.insert(words.end(), more.begin(), more.end());
        const ProcessResult result = tessera(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    };
    const std::string text = searched({});
    EXPECT_THAT(text, StartsWith("the search ends with the plan of the artefact\n"));
    std::istringstream dump(contents(path("dump/06-plan.txt")));
    for (std::string line; std::getline(dump, line);) EXPECT_THAT(text, HasSubstr(line));

    const auto json = nlohmann::json::parse(searched({"--json"}));
    EXPECT_EQ(json.at("finds_plan_of_artefact"), true);
    int64_t several = 0;
    for (const auto& block : json.at("blocks")) {
        EXPECT_GT(block.at("seconds"), 0.0);
        EXPECT_EQ(block.at("gap"), 0.0);
        for (const auto& kernel : block.at("kernels_of_several_operators")) {
            ++several;
            EXPECT_THAT(text, HasSubstr(kernel.at("nest").get<std::string>()));
            EXPECT_LT(kernel.at("seconds"), kernel.at("apart_seconds"));
        }
    }
    EXPECT_GT(several, 0);

    const ProcessResult none = tessera({"inspect", path("a.tsr"), "--search", "--search-effort", "0"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.errors, HasSubstr("`--search-effort`: is 0, with which nothing is searched"));
}

TEST_F(Inspecting, TheEGraphNeedsTheMachineAndAKnownFormat) {
    const ProcessResult format = tessera({"inspect", path("a.tsr"), "--egraph", path("layouts.pdf")});
    EXPECT_EQ(format.exit_code, 2);
    EXPECT_THAT(format.errors, HasSubstr("layouts.pdf ends neither in .html nor in .dot"));
    const ProcessResult none =
        tessera({"inspect", path("a.tsr"), "--egraph", path("none.html"), "--search-effort", "0"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.errors, HasSubstr("`--search-effort`: is 0, with which nothing is searched"));
    const ProcessResult other = tessera({"inspect", path("a.tsr"), "--egraph", path("none.html")});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.errors, HasSubstr("`--egraph`: is for machine round ("));
    EXPECT_FALSE(std::filesystem::exists(path("none.html")));
}

// The variables are set as for `tessera compile`.
TEST_F(Inspecting, VariablesOfOtherVerbsDoNotDisturb) {
    const ProcessResult result =
        run_process({.program = "/usr/bin/env",
                     .arguments = {"TESSERA_SEARCH_EFFORT=0", "TESSERA_MACHINE=" + path("round.toml"),
                                   TESSERA_PROGRAM, "inspect", path("a.tsr"), "--memory"}});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST_F(Inspecting, WrongUsageIsExitCodeTwo) {
    EXPECT_EQ(tessera({"inspect", path("a.tsr"), "--costs"}).exit_code, 2);
    EXPECT_EQ(tessera({"inspect", path("a.tsr"), "--plan", "--cost"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
