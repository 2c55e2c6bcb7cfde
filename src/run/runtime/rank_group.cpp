#include "run/runtime/rank_group.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "run/runtime/barrier.h"
#include "run/runtime/memory.h"
#include "run/runtime/workers.h"
#include "support/error.h"

// Parts pass through a buffer that all threads share: each copies its own in, all meet, and each copies the
// others' out. There are two buffers, used in turns, so that one meeting suffices: a thread that reaches the
// next one has read all of this one. With several processes the first thread exchanges the buffer's contents
// with theirs, between two meetings; so each operation keeps the parts of a process together in it.
//
// Large parts of threads that are all here are read in place, which saves a copy for a second meeting.

namespace tessera::runtime {
namespace {

constexpr int64_t kSlotBytes = int64_t{1} << 20;  ///< of the buffer, for each rank of all processes
/// Larger parts take longer to copy than a second meeting.
constexpr int64_t kLargeBytes = int64_t{1} << 15;

}  // namespace

struct RankGroup::Shared {
    Shared(int64_t threads_, int64_t spins, Communicator* processes_)
        : threads(threads_),
          processes(processes_),
          barrier(threads_, spins),
          memory(static_cast<size_t>(2 * all() * kSlotBytes), "ranks", "buffer"),
          lying{std::vector<unsigned char*>(static_cast<size_t>(threads_)),
                std::vector<unsigned char*>(static_cast<size_t>(threads_))} {}

    int64_t count() const { return processes ? processes->ranks() : 1; }
    int64_t all() const { return threads * count(); }
    unsigned char* buffer(int64_t turn) {
        return reinterpret_cast<unsigned char*>(memory.bytes().data()) + turn * all() * kSlotBytes;
    }

    int64_t threads;
    Communicator* processes;
    Barrier barrier;
    AnonymousMemory memory;
    std::array<std::vector<unsigned char*>, 2>
        lying;  ///< where each thread's parts lie; written before a meeting
};

namespace {

using Starts = std::span<const int64_t>;

int64_t width(Starts starts, int64_t rank) {
    return starts[static_cast<size_t>(rank) + 1] - starts[static_cast<size_t>(rank)];
}

/// Columns of rows, from one place to another.
struct Columns {
    unsigned char* to;
    int64_t to_stride;
    const unsigned char* from;
    int64_t from_stride;
    int64_t bytes, rows;

    void copy() const {
        if (bytes <= 0) return;
        for (int64_t row = 0; row < rows; ++row)
            std::memcpy(to + row * to_stride, from + row * from_stride, static_cast<size_t>(bytes));
    }
};

}  // namespace

class RankGroup::ThreadRank : public Communicator {
public:
    ThreadRank(int64_t thread, Shared& group)
        : Communicator((group.processes ? group.processes->rank() * group.threads : 0) + thread, group.all()),
          thread_(thread),
          group_(group) {}

    void gather(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        if (!group_.processes && part_bytes >= kLargeBytes) {
            lying()[static_cast<size_t>(thread_)] = parts;
            group_.barrier.arrive_and_wait();
            return read_lying([&](int64_t r, const unsigned char* lying) {
                std::memcpy(parts + r * part_bytes, lying + r * part_bytes, static_cast<size_t>(part_bytes));
            });
        }
        for (int64_t at = 0; at < part_bytes; at += kSlotBytes) {
            const int64_t bytes = std::min(kSlotBytes, part_bytes - at);
            const auto piece = [&](int64_t r) { return buffer() + r * bytes; };
            std::memcpy(piece(rank()), parts + rank() * part_bytes + at, static_cast<size_t>(bytes));
            meet([&] { group_.processes->gather(buffer(), group_.threads * bytes); });
            for_others([&](int64_t r) {
                std::memcpy(parts + r * part_bytes + at, piece(r), static_cast<size_t>(bytes));
            });
            turn_ ^= 1;
        }
    }

    // The buffer has a block per process: a part from each thread here for each thread there.
    void transpose(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        const int64_t threads = group_.threads, most = kSlotBytes / threads;
        for (int64_t at = 0; at < part_bytes; at += most) {
            const int64_t bytes = std::min(most, part_bytes - at);
            const auto piece = [&](int64_t process, int64_t from, int64_t to) {
                return buffer() + ((process * threads + from) * threads + to) * bytes;
            };
            for_others([&](int64_t r) {
                std::memcpy(piece(r / threads, thread_, r % threads), parts + r * part_bytes + at,
                            static_cast<size_t>(bytes));
            });
            meet([&] { group_.processes->transpose(buffer(), threads * threads * bytes); });
            for_others([&](int64_t r) {
                std::memcpy(parts + r * part_bytes + at, piece(r / threads, r % threads, thread_),
                            static_cast<size_t>(bytes));
            });
            turn_ ^= 1;
        }
    }

    // Moves as many rows at a time as fit; longer rows in pieces, with at most kSlotBytes of each part.
    void place(unsigned char* whole, int64_t rows, Starts starts) noexcept override {
        ++exchanges_;
        const int64_t stride = starts.back();
        const auto columns = [&](int64_t r) { return whole + starts[static_cast<size_t>(r)]; };
        // Threads that place their parts in the same memory have nothing to copy.
        const auto shares = [&](int64_t r) {
            return !group_.processes && lying()[static_cast<size_t>(r)] == whole;
        };
        lying()[static_cast<size_t>(thread_)] = whole;
        if (!group_.processes && rows * stride >= kLargeBytes * ranks()) {
            group_.barrier.arrive_and_wait();
            return read_lying([&](int64_t r, const unsigned char* lying) {
                if (shares(r)) return;
                Columns{columns(r), stride,           lying + starts[static_cast<size_t>(r)],
                        stride,     width(starts, r), rows}
                    .copy();
            });
        }
        int64_t widest = 0;
        for (int64_t r = 0; r < ranks(); ++r) widest = std::max(widest, width(starts, r));
        for (int64_t at = 0; at < widest; at += kSlotBytes) {
            std::vector<int64_t>& cut = cut_starts(starts, at);
            const int64_t row_bytes = cut.back();
            const int64_t rows_at_once = ranks() * kSlotBytes / row_bytes;
            for (int64_t row = 0; row < rows; row += rows_at_once) {
                const int64_t count = std::min(rows_at_once, rows - row);
                const auto placed = [&](int64_t r) { return columns(r) + row * stride + at; };
                const auto piece = [&](int64_t r) { return buffer() + cut[static_cast<size_t>(r)]; };
                Columns{piece(rank()), row_bytes, placed(rank()), stride, width(cut, rank()), count}.copy();
                meet([&] { group_.processes->place(buffer(), count, of_processes(cut)); });
                for_others([&](int64_t r) {
                    if (!shares(r))
                        Columns{placed(r), stride, piece(r), row_bytes, width(cut, r), count}.copy();
                });
                turn_ ^= 1;
            }
        }
    }

    void broadcast(std::span<std::byte> bytes) noexcept override {
        for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(kSlotBytes)) {
            const std::span<std::byte> part =
                bytes.subspan(at, std::min(static_cast<size_t>(kSlotBytes), bytes.size() - at));
            if (rank() == 0) std::memcpy(buffer(), part.data(), part.size());
            meet([&] { group_.processes->broadcast({reinterpret_cast<std::byte*>(buffer()), part.size()}); });
            if (rank() != 0) std::memcpy(part.data(), buffer(), part.size());
            turn_ ^= 1;
        }
    }

private:
    unsigned char* buffer() const { return group_.buffer(turn_); }

    template <typename Visit>
    void for_others(const Visit& visit) {
        for (int64_t r = 0; r < ranks(); ++r)
            if (r != rank()) visit(r);
    }

    /// Returns when all threads have come, and the contents from other processes are there.
    template <typename Exchange>
    void meet(const Exchange& exchange) {
        group_.barrier.arrive_and_wait();
        if (!group_.processes) return;
        if (thread_ == 0) exchange();
        group_.barrier.arrive_and_wait();
    }

    std::vector<unsigned char*>& lying() { return group_.lying[static_cast<size_t>(turn_)]; }

    /// Called after a meeting before which all have set the places of their parts.
    template <typename Read>
    void read_lying(const Read& read) {
        for_others([&](int64_t r) { read(r, lying()[static_cast<size_t>(r)]); });
        group_.barrier.arrive_and_wait();  // until all have read it, it must not be overwritten
        turn_ ^= 1;
    }

    /// The begins of the pieces of all parts, from byte `at` of each on.
    std::vector<int64_t>& cut_starts(Starts starts, int64_t at) {
        cut_.assign(1, 0);
        for (int64_t r = 0; r < ranks(); ++r)
            cut_.push_back(cut_.back() + std::clamp<int64_t>(width(starts, r) - at, 0, kSlotBytes));
        return cut_;
    }

    Starts of_processes(const std::vector<int64_t>& starts) {
        process_starts_.clear();
        for (size_t r = 0; r < starts.size(); r += static_cast<size_t>(group_.threads))
            process_starts_.push_back(starts[r]);
        return process_starts_;
    }

    int64_t thread_;
    Shared& group_;
    int64_t turn_ = 0;
    std::vector<int64_t> cut_, process_starts_;
};

RankGroup::RankGroup(int64_t threads, int64_t spins, Communicator* processes)
    : shared_(std::make_unique<Shared>(threads, spins, processes)) {
    TESSERA_CHECK(threads >= 1);
    for (int64_t t = 0; t < threads; ++t) ranks_.push_back(std::make_unique<ThreadRank>(t, *shared_));
}

RankGroup::~RankGroup() = default;

Communicator& RankGroup::rank(int64_t thread) const {
    return *ranks_[static_cast<size_t>(thread)];
}

int64_t RankGroup::threads() const {
    return shared_->threads;
}

void on_local_ranks(int64_t ranks, const std::function<void(Communicator&)>& work) {
    const WorkerOptions options = one_processor_each(ranks);
    const RankGroup group(ranks, options.spins);
    WorkerTeam team(ranks, options);
    struct Call {
        const RankGroup& group;
        const std::function<void(Communicator&)>& work;
        std::exception_ptr problem;
    } call{group, work, nullptr};
    team.run(
        [](void* context, int64_t thread) noexcept {
            Call& shared = *static_cast<Call*>(context);
            try {
                shared.work(shared.group.rank(thread));
            } catch (...) {
                if (thread == 0) shared.problem = std::current_exception();
            }
        },
        &call);
    if (call.problem) std::rethrow_exception(call.problem);
}

}  // namespace tessera::runtime
