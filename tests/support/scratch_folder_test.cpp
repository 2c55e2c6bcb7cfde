#include "support/scratch_folder.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, GoesWithItsContents) {
    const TemporaryFolder parent;
    fs::path path;
    {
        const ScratchFolder scratch(parent.path(), "build");
        path = scratch.path();
        EXPECT_EQ(path.parent_path(), parent.path());
        std::ofstream(path / "file") << "text";
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, ClearsWhatNobodyUsesAnyMore) {
    const TemporaryFolder parent;
    fs::create_directories(parent.path() / "build-aaaaaa/deep");
    fs::create_directory(parent.path() / "build-of-mine");
    fs::create_directory(parent.path() / "other-aaaaaa");
    fs::create_directory(parent.path() / "elsewhere");
    std::ofstream(parent.path() / "elsewhere/file") << "kept";
    fs::create_directory_symlink("elsewhere", parent.path() / "build-bbbbbb");
    const ScratchFolder living(parent.path(), "build");
    const ScratchFolder next(parent.path(), "build");
    EXPECT_FALSE(fs::exists(parent.path() / "build-aaaaaa"));
    EXPECT_TRUE(fs::exists(living.path())) << "is in use";
    EXPECT_TRUE(fs::exists(parent.path() / "build-of-mine"));
    EXPECT_TRUE(fs::exists(parent.path() / "other-aaaaaa"));
    EXPECT_TRUE(fs::exists(parent.path() / "elsewhere/file")) << "a link is not followed";
}

TEST(ScratchFolder, OfAKilledProcessIsCleared) {
    const TemporaryFolder parent;
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const ScratchFolder scratch(parent.path(), "build");
        const ssize_t written = write(ready[1], "x", 1);
        for (; written == 1;) pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    { const ScratchFolder next(parent.path(), "build"); }
    EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 1) << "the child still uses its own";
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    { const ScratchFolder next(parent.path(), "build"); }
    EXPECT_TRUE(fs::is_empty(parent.path()));
    close(ready[0]);
    close(ready[1]);
}

TEST(ScratchFolder, NamesAFolderThatTakesNone) {
    EXPECT_THROW(ScratchFolder("/nowhere/at/all", "build"), Error);
}

}  // namespace
}  // namespace tessera
