// A cache that cannot be written, and remains of interrupted compilations in one.

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/remembering_compiler.h"
#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CacheFolders : public ToyBench {
protected:
    static void SetUpTestSuite() { compiler_ = new RememberingCompiler; }
    static void TearDownTestSuite() { delete compiler_; }
    void SetUp() override {
        fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
        fs::create_directory(path("temporary"));
        write("ids.json", "[2, 0, 1]");
    }
    ProcessResult with(std::vector<std::string> variables, const std::string& command) const {
        std::vector<std::string> all = {"-C", folder_.path(), "TESSERA_SEARCH_EFFORT=0",
                                        "TMPDIR=" + path("temporary")};
        all.insert(all.end(), variables.begin(), variables.end());
        all.insert(all.end(), {"bash", "-c", command, TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = all});
    }
    std::vector<std::string> names_in(const std::string& folder) const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path(folder)))
            names.push_back(entry.path().filename());
        return names;
    }

    static inline RememberingCompiler* compiler_ = nullptr;
};

const std::vector<std::string> kCompiling = {
    "\"$0\" run model -p '1 + 1 =' -n 2", "\"$0\" logits model --ids ids.json --out l.bin",
    "\"$0\" bench model --prefill 2 --decode 2 --repeat 1", "\"$0\" compile model -q -o out.tsr"};

TEST_F(CacheFolders, WithoutAWritableOneATemporaryFolderServes) {
    write("file", "");
    fs::create_directories(path("partly/tessera"));
    write("partly/tessera/code", "is no folder");
    const std::vector<std::vector<std::string>> worlds = {
        {"XDG_CACHE_HOME=/proc/no"},
        {"XDG_CACHE_HOME=" + path("file")},
        {"XDG_CACHE_HOME=" + path("partly")},
        {"--unset=XDG_CACHE_HOME", "HOME=/proc/no"},
        {"XDG_CACHE_HOME=relative", "HOME=/proc/no"},
    };
    for (size_t w = 0; w < worlds.size(); ++w)
        for (const std::string& command :
             w == 0 ? kCompiling : std::vector{kCompiling[w % kCompiling.size()]}) {
            const std::vector<std::string>& world = worlds[w];
            const ProcessResult result = with(world, command);
            EXPECT_EQ(result.exit_code, 0) << world[0] << command << "\n" << result.errors;
            EXPECT_THAT(result.errors, HasSubstr("set XDG_CACHE_HOME to a folder that you may write"));
            EXPECT_THAT(names_in("temporary"), IsEmpty()) << command;
        }
}

TEST_F(CacheFolders, WhatIsInOneIsUsedThoughNothingCanBeAdded) {
    const std::string run = "\"$0\" run model -p '1 + 1 =' -n 2";
    ASSERT_EQ(with({"XDG_CACHE_HOME=" + path("cache")}, run).exit_code, 0);
    fs::remove_all(path("cache/tessera/code"));
    write("cache/tessera/code", "is no folder");
    const ProcessResult result = with({"XDG_CACHE_HOME=" + path("cache")}, run);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, Not(HasSubstr("XDG_CACHE_HOME")));
}

TEST_F(CacheFolders, WithoutAnyFolderToWriteTheVariableIsNamed) {
    const ProcessResult result =
        with({"XDG_CACHE_HOME=/proc/no", "TMPDIR=/proc/self"}, "\"$0\" compile model -q -o out.tsr");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("XDG_CACHE_HOME"));
}

TEST_F(CacheFolders, WhatAKilledCompilationLeavesTheNextOneClears) {
    fs::create_directory(path("bin"));
    write("bin/c++",
          "#!/bin/sh\ncase \"$*\" in *--version*) echo 'slow 1';; *) echo >started; exec sleep 20;; esac\n");
    fs::permissions(path("bin/c++"), fs::perms(0700));
    const std::string world = "XDG_CACHE_HOME=" + path("cache");
    for (const std::string signal : {"KILL", "INT", "TERM", "HUP"})
        with({world}, "set -m; rm -f started; mkfifo started; PATH=" + path("bin") +
                          ":$PATH \"$0\" compile model -q -o cut.tsr & cat started; kill -" + signal +
                          " -- -$!; wait $!");
    write("cut.tsr.tessera-1-0.part", "half");
    write("cache/tessera/code/0123.so.tessera-1-0.part", "half");
    ASSERT_FALSE(names_in("cache/tessera/code").empty());
    ASSERT_EQ(with({world}, "\"$0\" compile model -q -o cut.tsr").exit_code, 0);
    EXPECT_FALSE(fs::exists(path("cut.tsr.tessera-1-0.part")));
    EXPECT_THAT(names_in("cache/tessera/code"), ::testing::Each(::testing::EndsWith(".so")));
}

}  // namespace
}  // namespace tessera
