// The place of an output path: only regular files are replaced, everything else is written as it is.

#include "support/output_place.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <set>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of_job(const std::function<void()>& job) {
    try {
        job();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string error_at(const fs::path& path) {
    return error_of_job([&] { check_output(path); });
}

void write_in_any_order(const fs::path& path) {
    AtomicFile file(path, AtomicFile::Order::kAny);
    file.write("....body");
    file.write_at(0, std::as_bytes(std::span("head", 4)));
    file.commit();
}

class Outputs : public ::testing::Test {
protected:
    fs::path path(const std::string& name) const { return folder_.path() / name; }
    void text(const std::string& name, const std::string& content) const {
        std::ofstream(path(name)) << content;
    }

    TemporaryFolder folder_;
};

TEST_F(Outputs, LinksAreFollowed) {
    fs::create_directory(path("far"));
    text("far/target", "old");
    fs::create_symlink("far/target", path("relative"));
    fs::create_symlink(path("relative"), path("chain"));
    fs::create_symlink("../relative", path("far/back"));
    fs::create_directory_symlink("far", path("folder"));
    for (const std::string name : {"relative", "chain", "far/back", "folder/target"}) {
        SCOPED_TRACE(name);
        write_file(path(name), "by " + name);
        EXPECT_EQ(contents(path("far/target")), "by " + name);
        EXPECT_FALSE(fs::is_symlink(path("far/target")));
    }
    EXPECT_TRUE(fs::is_symlink(path("relative")) && fs::is_symlink(path("chain")));
}

TEST_F(Outputs, TheTargetOfADanglingLinkIsMade) {
    fs::create_directory(path("far"));
    fs::create_symlink("far/new", path("link"));
    write_file(path("link"), "made");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(contents(path("far/new")), "made");
    fs::create_symlink("nowhere/new", path("lost"));
    EXPECT_THAT(error_at(path("lost")), HasSubstr("lost: cannot create the file: No such file"));
    fs::create_symlink("round", path("round"));
    EXPECT_THAT(error_at(path("round")), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(Outputs, APipeIsWrittenInTheOrderOfTheFile) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    fs::create_symlink("pipe", path("link"));
    auto read = std::async([&] { return contents(path("pipe")); });
    write_file(path("link"), "in order");
    EXPECT_EQ(read.get(), "in order");
    read = std::async([&] { return contents(path("pipe")); });
    write_in_any_order(path("pipe"));
    EXPECT_EQ(read.get(), "headbody");
    EXPECT_TRUE(fs::is_fifo(path("pipe")) && fs::is_symlink(path("link")));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(Outputs, APipeThatIsFilledFromALargeFile) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    const std::string large(5'000'001, 'x');
    auto read = std::async([&] { return contents(path("pipe")); });
    AtomicFile file(path("pipe"), AtomicFile::Order::kAny);
    file.write(large);
    file.commit();
    EXPECT_TRUE(read.get() == large);
}

TEST_F(Outputs, ADeviceStaysADevice) {
    write_file("/dev/null", "gone");
    write_in_any_order("/dev/null");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    if (!fs::exists("/dev/full")) GTEST_SKIP();
    EXPECT_EQ(error_of_job([] { write_file("/dev/full", "much"); }),
              "/dev/full: cannot write the file: No space left on device");
    EXPECT_EQ(error_of_job([] { write_in_any_order("/dev/full"); }),
              "/dev/full: cannot write the file: No space left on device");
}

TEST_F(Outputs, AnOpenDescriptorIsWrittenWhereItStands) {
    const int descriptor = open(path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(write(descriptor, "before ", 7), 7);
    const std::string number = std::to_string(descriptor);
    fs::create_symlink("/dev/fd/" + number, path("link"));
    for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number, path("link").string()})
        write_file(name, "a ");
    write_in_any_order("/dev/fd/" + number);
    ASSERT_EQ(write(descriptor, " after", 6), 6);
    EXPECT_EQ(contents(path("log")), "before a a a headbody after");
    const int read_only = open(path("log").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_THAT(error_at("/dev/fd/" + std::to_string(read_only)), HasSubstr("is not open for writing"));
    close(read_only);
    close(descriptor);
    EXPECT_THAT(error_at("/dev/fd/" + number), HasSubstr("cannot write the file: Bad file descriptor"));
}

TEST_F(Outputs, WhatTakesNoBytesIsRefused) {
    fs::create_directory(path("folder"));
    EXPECT_THAT(error_at(path("folder")), HasSubstr("folder: is a folder, expected a file"));
    EXPECT_THAT(error_at(path("folder/")), HasSubstr("is a folder"));
    EXPECT_THAT(error_at(path("new/")), HasSubstr("names a folder"));
    EXPECT_THAT(error_at(path("folder/new/file")), HasSubstr("cannot create the file: No such file"));
    text("file", "");
    EXPECT_THAT(error_at(path("file/below")), HasSubstr("cannot create the file: Not a directory"));
    EXPECT_THAT(error_at(""), HasSubstr("is empty"));

    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string name = path("socket");
    ASSERT_LT(name.size(), sizeof address.sun_path);
    name.copy(address.sun_path, name.size());
    ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_THAT(error_at(path("socket")), HasSubstr("is a socket, expected a file"));
    close(socket);
}

TEST_F(Outputs, PermissionsAreAskedForBefore) {
    if (geteuid() == 0) GTEST_SKIP() << "not checked: what root may not write";
    text("file", "old");
    fs::permissions(path("file"), fs::perms::owner_read);
    EXPECT_THAT(error_at(path("file")), HasSubstr("cannot write the file: Permission denied"));
    fs::create_directory(path("folder"));
    text("folder/file", "old");
    fs::permissions(path("folder"), fs::perms(0500));
    EXPECT_THAT(error_at(path("folder/new")), HasSubstr("cannot create the file: Permission denied"));
    write_file(path("folder/file"), "in place");
    write_in_any_order(path("folder/file"));
    EXPECT_EQ(contents(path("folder/file")), "headbody");
    fs::permissions(path("folder"), fs::perms(0700));
}

TEST(ShortName, EndsBetweenCharacters) {
    EXPECT_EQ(short_name("model.tsr"), "model.tsr");
    EXPECT_EQ(short_name(std::string(300, 'x')).size(), 64U);
    std::string umlauts = "x";
    while (umlauts.size() < 200) umlauts += "\u00fc";
    EXPECT_EQ(short_name(umlauts), umlauts.substr(0, 63));
    EXPECT_EQ(short_name(std::string(300, '\x80')).size(), 64U) << "no UTF-8";
}

}  // namespace
}  // namespace tessera
