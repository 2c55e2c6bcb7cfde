#include "backend/taking_turns.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace tessera::testing {
namespace {

class TurnTable {
public:
    TurnTable(int64_t workers, Turns turns, uint64_t seed)
        : turns_(turns), random_(seed), order_(static_cast<size_t>(workers)) {
        std::iota(order_.begin(), order_.end(), 0);
        new_phase();
    }

    void wait_for_turn(int64_t worker) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return order_[at_] == worker; });
    }

    /// The last one of a phase begins the next one.
    void end_turn() {
        const std::lock_guard lock(mutex_);
        if (++at_ == order_.size()) new_phase();
        changed_.notify_all();
    }

private:
    void new_phase() {
        at_ = 0;
        if (turns_ == Turns::kDescending) std::sort(order_.rbegin(), order_.rend());
        if (turns_ == Turns::kRandom) std::shuffle(order_.begin(), order_.end(), random_);
    }

    Turns turns_;
    std::mt19937_64 random_;
    std::vector<int64_t> order_;
    size_t at_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
};

struct Seat {
    TurnTable& table;
    int64_t worker;
};

void meet(void* team) {
    const Seat& seat = *static_cast<const Seat*>(team);
    seat.table.end_turn();
    seat.table.wait_for_turn(seat.worker);
}

}  // namespace

void run_by_turns(TesseraStepFunction entry, const TesseraStep& step, int64_t workers, Turns turns,
                  uint64_t seed) {
    TurnTable table(workers, turns, seed);
    std::vector<std::thread> threads;
    for (int64_t worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&table, &step, entry, worker] {
            Seat seat{table, worker};
            TesseraStep own = step;
            own.worker = worker;
            own.meet = meet;
            own.team = &seat;
            table.wait_for_turn(worker);
            entry(&own);
            table.end_turn();
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace tessera::testing
