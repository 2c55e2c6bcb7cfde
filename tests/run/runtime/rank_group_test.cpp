// Exchanges of ranks that are threads of one process or of several. The processes are threads too, whose
// exchanges are those of a group of one rank each.
#include "run/runtime/rank_group.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

/// The byte that a rank has at a place of its part.
unsigned char content(int64_t rank, int64_t at, int64_t round) {
    return static_cast<unsigned char>(rank * 31 + at * 7 + round * 13);
}

/// True if every rank's part is there, for some sizes, one after the other.
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

/// True if the work is right on every rank: threads of so many processes, which are threads too.
template <typename Work>
bool is_right_on(int64_t processes, int64_t threads, int64_t spins, const Work& work) {
    RankGroup between(processes, spins);
    std::atomic<int64_t> right = 0;
    std::vector<std::thread> all;
    std::vector<std::unique_ptr<RankGroup>> groups;
    for (int64_t p = 0; p < processes; ++p)
        groups.push_back(
            std::make_unique<RankGroup>(threads, spins, processes > 1 ? &between.rank(p) : nullptr));
    for (const auto& group : groups)
        for (int64_t t = 0; t < threads; ++t)
            all.emplace_back([&right, &work, &rank = group->rank(t)] { right += work(rank) ? 1 : 0; });
    for (std::thread& thread : all) thread.join();
    return right == processes * threads;
}

template <typename Work>
void expect_right(const Work& work) {
    for (const auto& [processes, threads] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 2}, {1, 3}, {1, 5}, {2, 1}, {2, 2}, {3, 2}, {2, 3}})
        for (const int64_t spins : {0, 1000})
            EXPECT_TRUE(is_right_on(processes, threads, spins, work))
                << processes << " processes of " << threads << ", spins " << spins;
}

TEST(Ranks, GatherWhatAllHave) {
    expect_right(gathers_everything);
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

TEST(Ranks, TransposeWhatAllHaveForEachOther) {
    expect_right(transposes_everything);
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

TEST(Ranks, PlacePartsOfDifferentSizes) {
    expect_right(places_everything);
}

TEST(Ranks, TakeTheBytesOfTheFirst) {
    expect_right([](Communicator& rank) {
        std::vector<std::byte> bytes(2'500'000, static_cast<std::byte>(rank.rank() + 1));
        rank.broadcast(bytes);
        return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{1}; });
    });
}

TEST(Ranks, RunAsThreadsOfThisProcess) {
    std::atomic<int64_t> sum = 0;
    on_local_ranks(4, [&](Communicator& rank) { sum += 1 + rank.rank(); });
    EXPECT_EQ(sum, 10);
    EXPECT_THROW(on_local_ranks(2,
                                [](Communicator& rank) {
                                    if (rank.rank() == 0) throw std::runtime_error("first");
                                }),
                 std::runtime_error);
}

}  // namespace
}  // namespace tessera::runtime
