#include "support/file_lock.h"

#include <atomic>
#include <future>
#include <optional>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tessera {
namespace {

TEST(FileLock, TheSecondOneWaitsUntilTheFirstOneIsGone) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "lock";
    std::optional<FileLock> first(std::in_place, file, [] { ADD_FAILURE() << "nobody had it"; });
    std::promise<void> waits;
    std::atomic<bool> is_gone = false;
    const auto second = std::async(std::launch::async, [&] {
        const FileLock lock(file, [&] { waits.set_value(); });
        EXPECT_TRUE(is_gone);
    });
    waits.get_future().wait();
    is_gone = true;
    first.reset();
    second.wait();
}

TEST(FileLock, WhereNoFileCanBeMadeNobodyWaits) {
    const FileLock first("/proc/no/lock", [] { ADD_FAILURE(); });
    const FileLock second("/proc/no/lock", [] { ADD_FAILURE(); });
}

}  // namespace
}  // namespace tessera
