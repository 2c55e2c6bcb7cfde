#include "support/subprocess.h"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

ProcessResult shell(const std::string& script) {
    return run_process({.program = "/bin/sh", .arguments = {"-c", script}});
}

TEST(Subprocess, KeepsTheStreamsApart) {
    const ProcessResult result = shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.errors, "err\n");
}

TEST(Subprocess, ArgumentsArriveAsTheyAre) {
    const std::string nasty = "a b\"c'd$HOME;`e`\n*";
    const ProcessResult result =
        run_process({.program = "/usr/bin/printf", .arguments = {"%s|", nasty, "", "--", "-x"}});
    EXPECT_EQ(result.output, nasty + "||--|-x|");
}

TEST(Subprocess, StandardInputIsEmpty) {
    EXPECT_EQ(shell("cat").output, "");
}

TEST(Subprocess, DeathBySignalIsAnExitCode) {
    EXPECT_EQ(shell("kill -9 $$").exit_code, 128 + 9);
}

// More than a pipe holds on both streams at once: reading one to its end before the other would hang.
TEST(Subprocess, LongOutputIsCutAndDoesNotBlock) {
    const ProcessResult result = run_process(
        {.program = "/bin/sh",
         .arguments = {"-c", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero; echo end >&2"},
         .output_limit = 1000});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output.size(), 1000U);
    EXPECT_EQ(result.errors.size(), 1000U);
}

TEST(Subprocess, CountsTheProcessorTimeOfGrandchildren) {
    const ProcessResult busy = shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true");
    EXPECT_GT(busy.cpu_seconds, 0.02);
    EXPECT_LT(shell("sleep 0.2").cpu_seconds, 0.1);
}

TEST(Subprocess, SeveralGiveTheirResultsInOrder) {
    std::vector<Process> processes;
    for (int i = 0; i < 9; ++i)
        processes.push_back(
            {.program = "/bin/sh",
             .arguments = {"-c", fmt::format("sleep 0.0{}; echo {}; exit {}", 9 - i, i, i % 3)}});
    const std::vector<ProcessResult> results = run_processes(processes);
    ASSERT_EQ(results.size(), processes.size());
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(results[i].output, fmt::format("{}\n", i));
        EXPECT_EQ(results[i].exit_code, i % 3);
    }
    EXPECT_TRUE(run_processes({}).empty());
}

TEST(Subprocess, WhatWaitsForSeveralMayEndThem) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Process> processes(8, {.program = "/bin/sleep", .arguments = {"30"}});
    EXPECT_THROW((void)run_processes(processes, [] { throw std::runtime_error("enough"); }),
                 std::runtime_error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Subprocess, OfSeveralOneThatIsNotThereEndsTheOthers) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(
        (void)run_processes({{.program = "/no/program"}, {.program = "/bin/sleep", .arguments = {"30"}}}),
        Error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Subprocess, TicksWhileItWaits) {
    int ticks = 0;
    run_process({.program = "/bin/sh", .arguments = {"-c", "sleep 0.5"}, .while_waiting = [&] { ++ticks; }});
    EXPECT_GE(ticks, 2);
}

TEST(Subprocess, EndsWithAnException) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(run_process({.program = "/bin/sleep",
                              .arguments = {"60"},
                              .while_waiting = [] { throw std::runtime_error("enough"); }}),
                 std::runtime_error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Subprocess, MissingProgramIsNamed) {
    try {
        run_process({.program = "/no/such/compiler", .arguments = {}});
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "/no/such/compiler: cannot run the program: No such file or directory");
    }
}

TEST(FindProgram, TakesTheFirstExecutableOfTheSearchPath) {
    const TemporaryFolder folder;
    const auto put = [&](const std::string& name, fs::perms permissions) {
        fs::create_directories((folder.path() / name).parent_path());
        std::ofstream(folder.path() / name) << "#!/bin/sh\n";
        fs::permissions(folder.path() / name, permissions);
    };
    put("a/tool", fs::perms::owner_read);  // not executable
    put("b/tool", fs::perms::owner_all);
    put("c/tool", fs::perms::owner_all);
    fs::create_directories(folder.path() / "a" / "folder");
    const auto at = [&](const std::string& name) { return (folder.path() / name).string(); };
    const std::string search_path = at("missing") + "::" + at("a") + ":" + at("b") + ":" + at("c");
    EXPECT_EQ(find_program("tool", search_path), folder.path() / "b/tool");
    EXPECT_EQ(find_program("folder", search_path), std::nullopt);
    EXPECT_EQ(find_program("absent", search_path), std::nullopt);
    EXPECT_EQ(find_program("", search_path), std::nullopt);
    EXPECT_EQ(find_program("tool", ""), std::nullopt);
    EXPECT_EQ(find_program(at("c/tool"), ""), folder.path() / "c/tool");
    EXPECT_EQ(find_program(at("a/tool"), search_path), std::nullopt);
}

}  // namespace
}  // namespace tessera
