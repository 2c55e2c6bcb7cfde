#include "support/kept_files.h"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// As if it had been used so many seconds after 1970.
void set_last_use(const fs::path& file, time_t seconds) {
    const struct timespec times[] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST(KeptFiles, AreFoundAgain) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "a.so";
    EXPECT_FALSE(kept_file(file));
    keep_file(file, std::string("\0code", 5));
    EXPECT_EQ(kept_file(file), std::string("\0code", 5));
    EXPECT_FALSE(kept_file(folder.path()));
}

TEST(KeptFiles, MakeTheirFolder) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "cache" / "code" / "a.plan";
    EXPECT_FALSE(kept_file(file));
    keep_file(file, "plan");
    EXPECT_EQ(kept_file(file), "plan");
}

TEST(KeptFiles, ThatWereNotUsedForLongestGoBeyondTheLimit) {
    const TemporaryFolder folder;
    const auto at = [&](const char* name) { return folder.path() / name; };
    const std::string content(100, 'x');
    for (const char* name : {"a", "b", "c"}) keep_file(at(name), content, 300);
    set_last_use(at("a"), 1);
    set_last_use(at("b"), 2);
    set_last_use(at("c"), 3);
    EXPECT_TRUE(kept_file(at("a")));  // which is its last use
    keep_file(at("d"), content, 300);
    EXPECT_TRUE(fs::exists(at("a")) && fs::exists(at("c")) && fs::exists(at("d")));
    EXPECT_FALSE(fs::exists(at("b")));
    keep_file(at("e"), content, 10);
    EXPECT_FALSE(fs::exists(at("a")) || fs::exists(at("c")) || fs::exists(at("d")));
    EXPECT_EQ(kept_file(at("e")), content);
}

}  // namespace
}  // namespace tessera
