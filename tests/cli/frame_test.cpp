// The common behaviour of all verbs, tried on the program itself.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ProcessResult tessera(std::vector<std::string> arguments) {
    return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
}

/// The verbs that `tessera --help` lists.
std::vector<std::string> verbs() {
    std::istringstream lines(tessera({"--help"}).output);
    std::vector<std::string> names;
    bool is_listing = false;
    for (std::string line; std::getline(lines, line);) {
        if (is_listing && line.empty()) break;
        if (is_listing) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            names.push_back(name);
        }
        is_listing = is_listing || line == "Subcommands:";
    }
    return names;
}

TEST(Frame, VersionGoesToStdout) {
    const ProcessResult result = tessera({"--version"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, ::testing::MatchesRegex("tessera [0-9]+\\.[0-9]+\\.[0-9]+\n"));
    EXPECT_THAT(result.errors, IsEmpty());
}

TEST(Frame, HelpShowsExamples) {
    const ProcessResult result = tessera({"--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("Examples:\n  tessera "));
    EXPECT_THAT(result.errors, IsEmpty());
}

TEST(Frame, HelpOfEveryVerbShowsExamplesOfThatVerb) {
    ASSERT_THAT(verbs(), ::testing::Contains("machine"));
    for (const std::string& verb : verbs()) {
        const ProcessResult result = tessera({verb, "--help"});
        EXPECT_EQ(result.exit_code, 0) << verb;
        EXPECT_THAT(result.output, HasSubstr("Examples:\n  tessera " + verb)) << verb;
        EXPECT_THAT(result.errors, IsEmpty()) << verb;
    }
}

struct Misuse {
    std::vector<std::string> arguments;
    std::string errors;
};

TEST(Frame, WrongUsageIsExitCodeTwoAndSaysWhatIsWrong) {
    const std::vector<Misuse> misuses = {
        {{}, "tessera: a verb is required\nSee `tessera --help`.\n"},
        {{"frobnicate"}, "tessera: there is no verb `frobnicate`\nSee `tessera --help`.\n"},
        {{"--frobnicate"},
         "tessera: unknown flag `--frobnicate` (a verb comes first: tessera run -m MODEL -p TEXT)\n"
         "See `tessera --help`.\n"},
        {{"chatt"}, "tessera: there is no verb `chatt` (perhaps `chat`)\nSee `tessera --help`.\n"},
        {{"pull"},
         "tessera: there is no verb `pull` (models are files: download one, and name it: tessera run "
         "MODEL.gguf)\nSee `tessera --help`.\n"},
        {{"run", "x.gguf", "-ngl", "99"},
         "tessera run: -ngl: is a flag of other tools (nothing runs on a GPU yet: leave it out)\n"
         "See `tessera run --help`.\n"},
        {{"run", "-hf", "someone/model", "-p", "hi"},
         "tessera run: -hf: is a flag of other tools (models are files: download one, and name it: tessera "
         "run "
         "MODEL.gguf)\nSee `tessera run --help`.\n"},
        {{"help", "run"},
         "tessera: there is no verb `help` (`tessera --help`, or `tessera VERB --help`)\nSee `tessera "
         "--help`.\n"},
        {{""}, "tessera: there is no verb ``\nSee `tessera --help`.\n"},
    };
    for (const Misuse& misuse : misuses) {
        const ProcessResult result = tessera(misuse.arguments);
        EXPECT_EQ(result.exit_code, 2) << misuse.errors;
        EXPECT_EQ(result.errors, misuse.errors);
        EXPECT_THAT(result.output, IsEmpty());
    }
}

TEST(Frame, UnknownFlagOfEveryVerbIsExitCodeTwo) {
    for (const std::string& verb : verbs()) {
        const ProcessResult result = tessera({verb, "--no-such-flag"});
        EXPECT_EQ(result.exit_code, 2) << verb;
        EXPECT_THAT(result.errors, HasSubstr("tessera " + verb + ": ")) << verb;
        EXPECT_THAT(result.errors, HasSubstr("See `tessera " + verb + " --help`.")) << verb;
        EXPECT_THAT(result.output, IsEmpty()) << verb;
    }
}

ProcessResult tessera_with(std::vector<std::string> variables, const std::vector<std::string>& arguments) {
    variables.emplace_back(TESSERA_PROGRAM);
    variables.insert(variables.end(), arguments.begin(), arguments.end());
    return run_process({.program = "/usr/bin/env", .arguments = std::move(variables)});
}

TEST(Frame, EveryFlagOfEveryVerbHasAVariable) {
    const std::regex flag("\n  (?:-[a-z],)?--([a-z0-9-]+)");
    int count = 0;
    for (const std::string& verb : verbs()) {
        const std::string help = tessera({verb, "--help"}).output;
        for (std::sregex_iterator match(help.begin(), help.end(), flag), end; match != end; ++match) {
            std::string variable = (*match)[1];
            if (variable == "help") continue;
            std::replace(variable.begin(), variable.end(), '-', '_');
            std::transform(variable.begin(), variable.end(), variable.begin(), ::toupper);
            EXPECT_THAT(help, HasSubstr("(Env:TESSERA_" + variable + ")")) << verb;
            ++count;
        }
    }
    EXPECT_GT(count, 20);
}

TEST(Frame, AVariableGivesAFlag) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "host.toml").string();
    EXPECT_EQ(tessera_with({"TESSERA_OUT=" + file}, {"machine"}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_THAT(tessera_with({"TESSERA_OUT="}, {"machine"}).output, HasSubstr("name = \"host\""))
        << "an empty one is none";
}

TEST(Frame, TheCommandLineWinsOverTheVariable) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "host.toml").string();
    EXPECT_EQ(tessera_with({"TESSERA_OUT=/no/such/folder/host.toml"}, {"machine", "--out", file}).exit_code,
              0);
    EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(Frame, AWrongVariableIsNamed) {
    const std::vector<std::string> compile = {"compile", "no-such-model", "-o", "out.tsr"};
    const ProcessResult result = tessera_with({"TESSERA_CONTEXT=many"}, compile);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.errors,
              "tessera compile: TESSERA_CONTEXT: --context: expected a whole number from 1 to 16777216, not "
              "'many'\n"
              "See `tessera compile --help`.\n");
    EXPECT_THAT(tessera_with({"TESSERA_CONTEXT=0"}, compile).errors,
                HasSubstr("TESSERA_CONTEXT: --context: "));
    EXPECT_EQ(tessera_with({"TESSERA_CONTEXT=many"}, {"machine"}).exit_code, 0) << "another verb's";

    const ProcessResult own =
        tessera_with({"TESSERA_CONTEXT=16"}, {"compile", "m", "-o", "o", "--context", "many"});
    EXPECT_EQ(own.exit_code, 2);
    EXPECT_THAT(own.errors, Not(HasSubstr("TESSERA_")));
}

TEST(Frame, AWrongNumberSaysWhatIsExpected) {
    const auto errors_of = [](const std::vector<std::string>& arguments) {
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 2);
        return result.errors;
    };
    EXPECT_EQ(errors_of({"bench", "--prefill", "4,16"}),
              "tessera bench: --prefill: expected a whole number from 0 to 16777216, not '4,16'\n"
              "See `tessera bench --help`.\n");
    EXPECT_THAT(errors_of({"bench", "--repeat", "0"}),
                HasSubstr("a whole number from 1 to 1000000, not '0'"));
    EXPECT_THAT(errors_of({"bench", "--depth", "0,-1"}),
                HasSubstr("a whole number from 0 to 16777216, not '-1'"));
    EXPECT_THAT(errors_of({"run", "--temperature", "nan"}), HasSubstr("a number, 0 or more, not 'nan'"));
    EXPECT_THAT(errors_of({"extract", "graph.json", "--time", "0"}), HasSubstr("a number above 0, not '0'"));
}

TEST(Frame, FailedJobIsExitCodeOneWithTheVerbInFront) {
    const ProcessResult result = tessera({"machine", "--out", "/no/such/folder/host.toml"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors,
                ::testing::StartsWith("tessera machine: /no/such/folder/host.toml: cannot create"));
    EXPECT_THAT(result.output, IsEmpty());
}

// Buffered output of a job that succeeded must not vanish unnoticed.
TEST(Frame, FullDiskBehindStdoutIsAFailure) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    // It shows when a buffer is flushed in the end, or at once where there is none.
    for (const std::string command :
         {"\"$0\" machine >/dev/full", "stdbuf --output=0 \"$0\" machine >/dev/full"}) {
        SCOPED_TRACE(command);
        const ProcessResult result =
            run_process({.program = "/bin/sh", .arguments = {"-c", command, TESSERA_PROGRAM}});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_THAT(result.errors, HasSubstr("cannot write to the standard output"));
    }
}

TEST(Frame, PipedErrorsHoldNoControlCharacters) {
    EXPECT_THAT(tessera({"machine"}).errors, Not(HasSubstr("\x1b")));
}

TEST(MachineVerb, FileHoldsWhatStdoutShows) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "host.toml";
    const ProcessResult shown = tessera({"machine"});
    const ProcessResult written = tessera({"machine", "--out", path});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(written.exit_code, 0);
    EXPECT_THAT(written.output, IsEmpty());
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), shown.output);
    EXPECT_THAT(shown.output, HasSubstr("name = \"host\"\n"));
}

}  // namespace
}  // namespace tessera
