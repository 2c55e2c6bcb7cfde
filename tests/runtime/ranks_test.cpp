// Ranks on this machine. They are processes, so that every test that starts some runs in one of its own.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/communicator.h"

namespace tessera::runtime {
namespace {

using ::testing::ExitedWithCode;

/// What rank r has at a place of a part.
unsigned char content(int64_t rank, int64_t at, int64_t round) {
    return static_cast<unsigned char>(rank * 31 + at * 7 + round * 13);
}

/// Whether every rank's part is there, for some sizes, one after the other.
bool gathers_everything(Communicator& ranks) {
    bool is_right = true;
    int64_t round = 0;
    for (const int64_t bytes : {1, 64, 4096, 1'048'576, 1'048'577, 3'000'000, 8, 8, 8, 8}) {
        std::vector<unsigned char> parts(static_cast<size_t>(bytes * ranks.ranks()));
        for (int64_t i = 0; i < bytes; ++i)
            parts[static_cast<size_t>(ranks.rank() * bytes + i)] = content(ranks.rank(), i, round);
        ranks.gather(parts.data(), bytes);
        for (int64_t r = 0; r < ranks.ranks(); ++r)
            for (int64_t i = 0; i < bytes; ++i)
                is_right = is_right && parts[static_cast<size_t>(r * bytes + i)] == content(r, i, round);
        ++round;
    }
    return is_right && ranks.exchanges() == round;
}

/// Runs a rank's work to the end: the destructor of rank 0 waits for the others.
template <typename Work>
[[noreturn]] void on_ranks(int64_t count, int64_t spins, const Work& work) {
    std::shared_ptr<Communicator> ranks = start_local_ranks(count, spins);
    const bool is_right = work(*ranks);
    ranks.reset();
    ::_exit(is_right ? 0 : 7);
}

TEST(RanksDeathTest, GatherWhatAllHave) {
    for (const int64_t count : {2, 3, 5})
        for (const int64_t spins : {0, 1000})
            EXPECT_EXIT(on_ranks(count, spins, gathers_everything), ExitedWithCode(0), "")
                << count << " " << spins;
}

bool transposes_everything(Communicator& ranks) {
    bool is_right = true;
    int64_t round = 0;
    for (const int64_t bytes : {1, 64, 1'048'577, 3'000'000, 8, 8}) {
        std::vector<unsigned char> parts(static_cast<size_t>(bytes * ranks.ranks()));
        for (int64_t r = 0; r < ranks.ranks(); ++r)
            for (int64_t i = 0; i < bytes; ++i)
                parts[static_cast<size_t>(r * bytes + i)] = content(ranks.rank(), i, 5 * r + round);
        ranks.transpose(parts.data(), bytes);
        for (int64_t r = 0; r < ranks.ranks(); ++r)
            for (int64_t i = 0; i < bytes; ++i)
                is_right = is_right && parts[static_cast<size_t>(r * bytes + i)] ==
                                           content(r, i, 5 * ranks.rank() + round);
        ++round;
    }
    return is_right && ranks.exchanges() == round;
}

TEST(RanksDeathTest, TransposeWhatAllHaveForEachOther) {
    for (const int64_t count : {2, 3, 5})
        EXPECT_EXIT(on_ranks(count, 0, transposes_everything), ExitedWithCode(0), "") << count;
}

/// Parts of different sizes in every row: rank r has `unit` times 1, 3, 5, ..
bool places_everything(Communicator& ranks) {
    bool is_right = true;
    int64_t round = 0;
    for (const auto& [rows, unit] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {7, 4}, {513, 700}, {3, 900'000}, {1, 8}, {1, 8}}) {
        std::vector<int64_t> starts{0};
        for (int64_t r = 0; r < ranks.ranks(); ++r) starts.push_back(starts.back() + unit * (1 + 2 * r));
        std::vector<unsigned char> whole(static_cast<size_t>(rows * starts.back()));
        const auto for_each = [&](int64_t r, const auto& visit) {
            const auto part = static_cast<size_t>(r);
            for (int64_t row = 0; row < rows; ++row)
                for (int64_t i = starts[part]; i < starts[part + 1]; ++i)
                    visit(whole[static_cast<size_t>(row * starts.back() + i)], content(r, row + i, round));
        };
        for_each(ranks.rank(), [](unsigned char& at, unsigned char value) { at = value; });
        ranks.place(whole.data(), rows, starts);
        for (int64_t r = 0; r < ranks.ranks(); ++r)
            for_each(r, [&](unsigned char at, unsigned char value) { is_right = is_right && at == value; });
        ++round;
    }
    return is_right && ranks.exchanges() == round;
}

TEST(RanksDeathTest, PlacePartsOfDifferentSizes) {
    for (const int64_t count : {2, 3, 5})
        EXPECT_EXIT(on_ranks(count, 0, places_everything), ExitedWithCode(0), "") << count;
}

TEST(RanksDeathTest, TakeTheBytesOfTheFirst) {
    EXPECT_EXIT(on_ranks(3, 0,
                         [](Communicator& ranks) {
                             std::vector<std::byte> bytes(2'500'000,
                                                          static_cast<std::byte>(ranks.rank() + 1));
                             ranks.broadcast(bytes);
                             return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{1}; });
                         }),
                ExitedWithCode(0), "");
}

TEST(RanksDeathTest, EndTogetherWhenOneDies) {
    EXPECT_EXIT(on_ranks(3, 0,
                         [](Communicator& ranks) {
                             if (ranks.rank() == 2) ::kill(::getpid(), SIGKILL);
                             return gathers_everything(ranks);
                         }),
                ExitedWithCode(1), "rank 2 of 3 died of signal 9: the others end too");
}

TEST(RanksDeathTest, EndTogetherWhenOneFails) {
    EXPECT_EXIT(on_ranks(2, 0,
                         [](Communicator& ranks) {
                             if (ranks.rank() == 1) ::_exit(3);
                             return gathers_everything(ranks);
                         }),
                ExitedWithCode(1), "rank 1 of 2 ended with code 3");
}

TEST(RanksDeathTest, DoNotWaitForOneThatHasEnded) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EXIT(on_ranks(2, 0,
                         [](Communicator& ranks) {
                             if (ranks.rank() == 1) ::_exit(0);
                             return gathers_everything(ranks);
                         }),
                ExitedWithCode(1), "ended before rank 0");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(RanksDeathTest, TheFirstOneEndsThoseThatStay) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EXIT(on_ranks(2, 0,
                         [](Communicator& ranks) {
                             if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::hours(1));
                             return true;
                         }),
                ExitedWithCode(0), "");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tessera::runtime
