#include "run/runtime/ranks_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/temporary_folder.h"

namespace tessera::runtime {
namespace {

using ::testing::HasSubstr;

class Three : public Communicator {
public:
    explicit Three(int64_t rank, int64_t ranks = 3) : Communicator(rank, ranks) {}
    void gather(unsigned char*, int64_t) noexcept override {}
    void transpose(unsigned char*, int64_t) noexcept override {}
    void place(unsigned char*, int64_t, std::span<const int64_t>) noexcept override {}
    void broadcast(std::span<std::byte>) noexcept override {}
};

class RanksFile : public ::testing::Test {
protected:
    void SetUp() override {
        std::vector<std::filesystem::path> parts;
        for (int i = 0; i < 3; ++i) {
            ToyModel toy;
            toy.name = fmt::format("part {}", i);
            parts.push_back(folder_.path() / fmt::format("part{}.tsr", i));
            toy.write(parts.back());
        }
        write_ranks_file(path(), "{\"account\": 1}", parts);
    }
    std::filesystem::path path() const { return folder_.path() / "all.tsr"; }

    /// The message of opening the file with one byte changed, or cut off.
    std::string problem_of(const std::string& bytes) const {
        std::ofstream(folder_.path() / "bad.tsr", std::ios::binary) << bytes;
        try {
            (void)Artefact::open(folder_.path() / "bad.tsr", std::make_shared<Three>(2));
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
    std::string bytes() const { return std::string(MappedFile::open(path()).text()); }

    TemporaryFolder folder_;
};

TEST_F(RanksFile, HoldsThePartOfEachRank) {
    EXPECT_TRUE(is_artefact(path()));
    EXPECT_TRUE(is_ranks_file(path()));
    EXPECT_EQ(read_ranks_account(path()), "{\"account\": 1}");
    for (int64_t rank = 0; rank < 3; ++rank) {
        const Artefact artefact = Artefact::open(path(), std::make_shared<Three>(rank));
        EXPECT_EQ(artefact.manifest().model, fmt::format("part {}", rank));
        EXPECT_EQ(artefact.processes()->rank(), rank);
        EXPECT_EQ(artefact.parts(), 1);
        EXPECT_EQ(artefact.ranks_of_file(), 3);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(artefact.constants().data()) % 64, 0);
        EXPECT_NO_THROW(artefact.verify_weights());
    }
}

TEST_F(RanksFile, OneProcessHasAllParts) {
    const Artefact all = Artefact::open(path());
    EXPECT_EQ(all.processes(), nullptr);
    EXPECT_EQ(all.ranks_of_file(), 3);
    ASSERT_EQ(all.parts(), 3);
    for (size_t rank = 0; rank < 3; ++rank)
        EXPECT_EQ(all.part(rank).manifest().model, fmt::format("part {}", rank));
    EXPECT_NO_THROW(all.verify_weights());
}

TEST_F(RanksFile, IsForProcessesThatDivideTheRanks) {
    try {
        (void)Artefact::open(path(), std::make_shared<Three>(0, 2));
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("is for 3 ranks, which 2 processes cannot share"));
    }
}

TEST_F(RanksFile, PartsHaveTheSameSteps) {
    ToyModel other;
    other.context = 64;
    other.write(folder_.path() / "other.tsr");
    write_ranks_file(path(), "{}", {folder_.path() / "part0.tsr", folder_.path() / "other.tsr"});
    try {
        (void)Artefact::open(path());
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("0 and 1 have different steps"));
    }
}

TEST_F(RanksFile, DamageIsFound) {
    const std::string whole = bytes();
    EXPECT_EQ(problem_of(whole), "");
    for (const size_t size : {size_t{9}, size_t{4000}, size_t{4096}, whole.size() - 1})
        EXPECT_THAT(problem_of(whole.substr(0, size)),
                    ::testing::AnyOf(HasSubstr("truncated"), HasSubstr("damaged")))
            << size;
    for (const size_t at : {size_t{8}, size_t{12}, size_t{20}, size_t{30}, size_t{50}, size_t{4097}}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x41);
        EXPECT_NE(problem_of(changed), "") << at;
    }
}

}  // namespace
}  // namespace tessera::runtime
