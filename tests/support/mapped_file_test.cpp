#include "support/mapped_file.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

std::filesystem::path written(const std::string& name, const std::string& content) {
    const auto path = std::filesystem::path(::testing::TempDir()) / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
    const MappedFile file = MappedFile::open(written("mapped_file_bytes", std::string("a\0b", 3)));
    EXPECT_EQ(file.text(), std::string_view("a\0b", 3));
    EXPECT_EQ(file.bytes().size(), 3u);
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
    EXPECT_EQ(MappedFile::open(written("mapped_file_empty", "")).size(), 0u);
}

TEST(MappedFile, ViewsSurviveMoves) {
    MappedFile first = MappedFile::open(written("mapped_file_first", "first"));
    const std::string_view view = first.text();
    MappedFile second = MappedFile::open(written("mapped_file_second", "second"));
    second = std::move(first);
    EXPECT_EQ(second.text().data(), view.data());
    const MappedFile third = std::move(second);
    EXPECT_EQ(third.text(), "first");
}

TEST(MappedFile, NamesTheFileThatCannotBeOpened) {
    try {
        MappedFile::open("/nonexistent/model.gguf");
        FAIL() << "opened a file that does not exist";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "/nonexistent/model.gguf: cannot open the file: No such file or directory");
    }
    EXPECT_THROW(MappedFile::open(::testing::TempDir()), Error);
}

}  // namespace
}  // namespace tessera
