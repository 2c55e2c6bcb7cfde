// Digests of contents, and when a kept one counts.
#include "compiler/api/content_digests.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

class Digests : public ::testing::Test {
protected:
    fs::path path(const std::string& name) const { return folder_.path() / name; }
    void write(const std::string& name, const std::string& content) const {
        std::ofstream(path(name), std::ios::binary) << content;
    }
    std::string digest(const std::string& name) const {
        return ContentDigests(path("kept")).digest(path(name));
    }

    TemporaryFolder folder_;
};

TEST_F(Digests, FollowContentsAlone) {
    // One byte, about one part, several parts and a rest.
    for (const size_t size : {size_t{0}, size_t{1}, size_t{16} << 20, (size_t{40} << 20) + 7}) {
        std::string content(size, 'a');
        write("a", content);
        write("b", content);
        EXPECT_EQ(digest("a"), digest("b")) << size;
        EXPECT_EQ(digest("a"), ContentDigests("").digest(path("b"))) << size;
        if (size == 0) continue;
        content.back() = 'b';
        write("b", content);
        EXPECT_NE(digest("a"), digest("b")) << size;
    }
}

TEST_F(Digests, AreReadAnewWhateverTheTimesSay) {
    const std::string first(size_t{2} << 20, 'a');
    std::string second = first;
    second[12345] = 'b';
    write("file", first);
    write("other", second);
    const auto time = fs::last_write_time(path("file"));
    const std::string before = digest("file");
    EXPECT_EQ(digest("file"), before);

    write("file", second);
    fs::last_write_time(path("file"), time);
    EXPECT_NE(digest("file"), before) << "written in place";

    write("file", first);
    EXPECT_EQ(digest("file"), before);
    fs::last_write_time(path("other"), time);
    fs::rename(path("other"), path("file"));
    EXPECT_NE(digest("file"), before) << "replaced by another file";
}

/// A file that lies there since before the test, as models do.
TEST_F(Digests, AreKeptOfFilesThatHaveSettled) {
    const fs::path settled = "/proc/self/exe";
    const ContentDigests digests(path("kept"));
    const std::string first = digests.digest(settled);
    EXPECT_EQ(digests.digest(settled), first);
    EXPECT_EQ(ContentDigests("").digest(settled), first);
    // Damaged entries are no digests.
    if (!fs::exists(path("kept")))
        GTEST_SKIP() << "was built just now, or on a file system without such times";
    for (const auto& entry : fs::directory_iterator(path("kept"))) {
        fs::resize_file(entry.path(), 10);
        EXPECT_EQ(digests.digest(settled), first);
        EXPECT_GT(fs::file_size(entry.path()), 10U) << "is written again";
    }
}

}  // namespace
}  // namespace tessera
