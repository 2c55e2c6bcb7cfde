#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

/// Threads beside those that must not wait. Slow work has a lane of its own, whose thread gets what all
/// others leave of the processors, and some percent where they leave nothing: quick work never waits for
/// slow.
class WorkLanes {
public:
    enum class Lane { kQuick, kSlow };

    explicit WorkLanes(int quick_threads);
    WorkLanes(const WorkLanes&) = delete;
    WorkLanes& operator=(const WorkLanes&) = delete;
    ~WorkLanes() { stop(); }

    /// The jobs of a lane begin in the order in which they were added. They must not throw. Any thread may
    /// call it, and nothing happens after `stop`.
    void add(Lane lane, std::function<void()> job);
    /// Waits for the jobs that have begun, and drops the others.
    void stop();

private:
    /// A lane. No lane shares a lock with another: a slow thread that is put off while it holds one would
    /// hold up the quick ones.
    struct Jobs {
        std::mutex mutex;
        std::condition_variable changed;
        bool stops = false;
        std::deque<std::function<void()>> waiting;
    };
    static void serve(Jobs& jobs);

    std::array<Jobs, 2> lanes_;
    std::vector<std::thread> threads_;
};

}  // namespace tessera
