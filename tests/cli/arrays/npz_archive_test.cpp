#include "cli/arrays/npz_archive.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arrays/npz_bytes.h"
#include "support/error.h"

namespace tessera::arrays {
namespace {

using test::as_file;
using test::npz_bytes;
using ::testing::HasSubstr;

std::string member(const std::string& archive, const std::string& name, uint64_t most = 1000) {
    EXPECT_TRUE(is_npz(as_file(archive)));
    const std::vector<std::byte> bytes = npz_member(as_file(archive), name, most, "a.npz");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string problem(const std::string& archive, const std::string& name, uint64_t most = 1000) {
    try {
        (void)npz_member(as_file(archive), name, most, "a.npz");
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "a.npz");
        return error.what();
    }
    return "";
}

TEST(NpzArchive, FindsTheArrayOfAName) {
    for (const bool packs : {false, true}) {
        const std::string archive =
            npz_bytes({{"x.npy", "first"}, {"layer/1:0.npy", std::string(500, 'a')}}, packs);
        EXPECT_EQ(member(archive, "x"), "first");
        EXPECT_EQ(member(archive, "layer/1:0"), std::string(500, 'a'));
        EXPECT_THAT(problem(archive, "y"), HasSubstr("`y`: is none of its 2 arrays"));
        EXPECT_THAT(problem(archive, "y"), HasSubstr("it has x, layer/1:0"));
        EXPECT_THAT(problem(archive, "layer/1:0", 499), HasSubstr("has 500 bytes, expected at most 499"));
    }
}

// numpy.savez without names calls it arr_0.
TEST(NpzArchive, OneArrayNeedsNoName) {
    EXPECT_EQ(member(npz_bytes({{"arr_0.npy", "only"}}, false), "x"), "only");
}

TEST(NpzArchive, RefusesWhatIsDamaged) {
    const std::string whole = npz_bytes({{"x.npy", std::string(100, 'b')}}, true);
    for (size_t size = 4; size < whole.size(); ++size)
        EXPECT_THAT(problem(whole.substr(0, size), "x"), HasSubstr("is a damaged archive")) << size;
    std::string changed = npz_bytes({{"x.npy", std::string(100, 'b')}}, false);
    changed[changed.find("bbbb")] = 'c';  // its sum is another one
    EXPECT_THAT(problem(changed, "x"), HasSubstr("is no whole member of the archive"));
    EXPECT_FALSE(is_npz(as_file("PK")));
}

}  // namespace
}  // namespace tessera::arrays
