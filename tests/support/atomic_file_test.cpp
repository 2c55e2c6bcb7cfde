#include "support/atomic_file.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/mapped_file.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
}

TEST(AtomicFile, AppearsOnlyWithCommit) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path() / "a");
    file.write("hello ");
    file.write("world");
    EXPECT_FALSE(fs::exists(folder.path() / "a"));
    file.commit();
    EXPECT_EQ(content_of(folder.path() / "a"), "hello world");
    EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, WithoutCommitTheOldFileStaysAndNothingElse) {
    const TemporaryFolder folder;
    write_file(folder.path() / "a", "old");
    {
        AtomicFile file(folder.path() / "a");
        file.write("half of the new");
    }
    EXPECT_EQ(content_of(folder.path() / "a"), "old");
    EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, TwoWritersDoNotMix) {
    const TemporaryFolder folder;
    AtomicFile first(folder.path() / "a");
    AtomicFile second(folder.path() / "a");
    first.write("first");
    second.write("second");
    second.commit();
    EXPECT_EQ(content_of(folder.path() / "a"), "second");
    first.commit();
    EXPECT_EQ(content_of(folder.path() / "a"), "first");
}

TEST(AtomicFile, WriteAtDoesNotMoveTheEnd) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path() / "a", AtomicFile::Order::kAny);
    file.write("....");
    file.write_at(1, std::as_bytes(std::span("xy", 2)));
    file.write("!");
    file.commit();
    EXPECT_EQ(content_of(folder.path() / "a"), ".xy.!");
}

TEST(AtomicFile, PiecesOfAnySizeAndWritesInTheirMidstMakeOneFile) {
    const TemporaryFolder folder;
    std::string expected;
    {
        AtomicFile file(folder.path() / "out", AtomicFile::Order::kAny);
        for (size_t piece = 1; expected.size() < (size_t{5} << 20); piece = piece * 7 + 3) {
            const std::string text(piece, static_cast<char>('a' + piece % 23));
            file.write(text);
            expected += text;
            file.write_at(expected.size() / 2, std::as_bytes(std::span("h", 1)));
            expected[expected.size() / 2] = 'h';
        }
        EXPECT_EQ(file.size(), expected.size());
        file.commit();
    }
    EXPECT_TRUE(MappedFile::open(folder.path() / "out").text() == expected);
}

TEST(AtomicFile, OthersMayReadIt) {
    const TemporaryFolder folder;
    write_file(folder.path() / "atomic", "");
    std::ofstream(folder.path() / "plain");
    EXPECT_EQ(fs::status(folder.path() / "atomic").permissions(),
              fs::status(folder.path() / "plain").permissions());
}

TEST(AtomicFile, MissingFolderIsNamed) {
    try {
        AtomicFile file("/nowhere/at/all");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "/nowhere/at/all: cannot create the file: No such file or directory");
    }
}

TEST(AtomicFile, FailedCommitLeavesNothing) {
    const TemporaryFolder folder;
    {
        AtomicFile file(folder.path() / "a");
        fs::create_directory(folder.path() / "a");
        EXPECT_THROW(file.commit(), Error);
    }
    EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, KeepsThePermissionsOfWhatItReplaces) {
    const TemporaryFolder folder;
    write_file(folder.path() / "a", "old");
    fs::permissions(folder.path() / "a", fs::perms(0640));
    write_file(folder.path() / "a", "new");
    EXPECT_EQ(content_of(folder.path() / "a"), "new");
    EXPECT_EQ(fs::status(folder.path() / "a").permissions(), fs::perms(0640));
}

TEST(AtomicFile, ClearsWhatAKilledWriterLeftAndNothingElse) {
    const TemporaryFolder folder;
    const std::set<std::string> of_others = {"b.tessera-1-0.part", "a.part", "a.tessera-1-0.par"};
    for (const std::string& name : of_others) std::ofstream(folder.path() / name) << "kept";
    std::ofstream(folder.path() / "a.tessera-1-0.part") << "half";
    fs::create_directory(folder.path() / "a.tessera-2-0.part");
    AtomicFile other(folder.path() / "a");
    other.write("other");
    write_file(folder.path() / "a", "new");
    EXPECT_EQ(names_in(folder.path()).size(), of_others.size() + 3) << "of a living writer, and the result";
    EXPECT_FALSE(fs::exists(folder.path() / "a.tessera-1-0.part"));
    other.commit();
    EXPECT_EQ(content_of(folder.path() / "a"), "other");
}

TEST(AtomicFile, TakesNamesOfAnyLengthThatTheSystemTakes) {
    const TemporaryFolder folder;
    std::string umlauts = "x";
    while (umlauts.size() < 254) umlauts += "\u00fc";
    for (const std::string& name : {std::string(255, 'n'), umlauts}) {
        write_file(folder.path() / name, "long");
        EXPECT_EQ(content_of(folder.path() / name), "long");
    }
    EXPECT_THROW(AtomicFile(folder.path() / std::string(256, 'n')), Error);
    EXPECT_EQ(names_in(folder.path()).size(), 2);
}

}  // namespace
}  // namespace tessera
