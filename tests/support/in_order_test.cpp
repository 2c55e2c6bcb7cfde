#include "support/in_order.h"

#include <algorithm>
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

std::string numbers(size_t count, size_t threads) {
    std::string all;
    run_in_order({.count = count,
                  .make =
                      [](size_t piece, std::vector<std::byte>& buffer) {
                          // Pieces take as long as they like.
                          std::atomic<size_t> work = 0;
                          while (work < piece * 7919 % 997) ++work;
                          const std::string text = std::to_string(piece) + " ";
                          const auto bytes = std::as_bytes(std::span(text));
                          buffer.assign(bytes.begin(), bytes.end());
                      },
                  .take =
                      [&](size_t, std::span<const std::byte> bytes) {
                          all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                      }},
                 threads);
    return all;
}

TEST(InOrder, PiecesAreTakenInOrderByAnyNumberOfThreads) {
    std::string expected;
    for (int i = 0; i < 2000; ++i) expected += std::to_string(i) + " ";
    for (const size_t threads : {1U, 2U, 7U}) EXPECT_EQ(numbers(2000, threads), expected) << threads;
    EXPECT_EQ(numbers(0, 3), "");
    EXPECT_EQ(numbers(1, 3), "0 ");
}

TEST(InOrder, FewPiecesAreInMemory) {
    constexpr size_t kThreads = 3;
    std::atomic<size_t> made = 0;
    size_t taken = 0, most = 0;
    run_in_order({.count = 500,
                  .make = [&](size_t, std::vector<std::byte>&) { ++made; },
                  .take =
                      [&](size_t, std::span<const std::byte>) {
                          most = std::max(most, made - taken);
                          ++taken;
                      }},
                 kThreads);
    EXPECT_EQ(taken, 500U);
    EXPECT_LE(most, 2 * kThreads);
}

TEST(InOrder, AnExceptionEndsTheRun) {
    const auto thrown = [](size_t threads, size_t makes_badly, size_t takes_badly) {
        try {
            run_in_order({.count = 1000,
                          .make =
                              [&](size_t piece, std::vector<std::byte>&) {
                                  if (piece == makes_badly) throw Error("make", std::to_string(piece), "");
                              },
                          .take =
                              [&](size_t piece, std::span<const std::byte>) {
                                  EXPECT_LT(piece, makes_badly);
                                  if (piece == takes_badly) throw Error("take", std::to_string(piece), "");
                              }},
                         threads);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const size_t threads : {1U, 4U}) {
        EXPECT_NE(thrown(threads, 20, 2000).find("20"), std::string::npos);
        EXPECT_NE(thrown(threads, 2000, 30).find("30"), std::string::npos);
    }
}

TEST(InOrder, AtOnceDoesEachPieceOfWork) {
    std::vector<size_t> squares(1000);
    run_at_once(squares.size(), [&](size_t at) { squares[at] = at * at; });
    for (size_t at = 0; at < squares.size(); ++at) EXPECT_EQ(squares[at], at * at);
    run_at_once(0, [](size_t) { FAIL(); });
    EXPECT_THROW(run_at_once(9,
                             [](size_t at) {
                                 if (at == 7) throw Error("work", "7", "");
                             }),
                 Error);
}

}  // namespace
}  // namespace tessera
