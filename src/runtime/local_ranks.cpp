// Ranks on one machine: processes that this one has forked, and a mapping that they share.
//
//   arrived, round | slot 0 of rank 0, rank 1, .. | slot 1 of rank 0, rank 1, ..
//
// To exchange parts, each rank copies its own into its slot, all meet, and each copies the others' out. The
// slots change from one time to the next, so that one meeting suffices: whoever has come to the next one has
// read all of this one.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/communicator.h"
#include "support/error.h"
#include "support/note.h"

namespace tessera::runtime {
namespace {

constexpr int64_t kSlotBytes = int64_t{1} << 20;
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kPatience = std::chrono::seconds(3);  ///< with ranks that should end too

struct Meeting {
    alignas(64) std::atomic<uint32_t> arrived;
    alignas(64) std::atomic<uint32_t> round;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

/// Between processes, which std::atomic::wait is not for.
void futex_wait(std::atomic<uint32_t>& value, uint32_t old) {
    (void)::syscall(SYS_futex, &value, FUTEX_WAIT, old, nullptr, nullptr, 0);
}
void futex_wake_all(std::atomic<uint32_t>& value) {
    (void)::syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

class Mapping {
public:
    explicit Mapping(size_t bytes) : bytes_(bytes) {
        address_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (address_ == MAP_FAILED)
            throw Error("ranks", "", fmt::format("cannot share {} bytes: {}", bytes, std::strerror(errno)));
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(address_, bytes_); }
    unsigned char* data() const { return static_cast<unsigned char*>(address_); }

private:
    void* address_;
    size_t bytes_;
};

size_t shared_bytes(int64_t ranks) {
    return sizeof(Meeting) + static_cast<size_t>(2 * ranks * kSlotBytes);
}

class LocalRank : public Communicator {
public:
    LocalRank(int64_t rank, int64_t ranks, int64_t spins, std::shared_ptr<Mapping> shared)
        : Communicator(rank, ranks), spins_(spins), shared_(std::move(shared)) {}

    void gather(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        for (int64_t at = 0; at < part_bytes; at += kSlotBytes) {
            const auto bytes = static_cast<size_t>(std::min(kSlotBytes, part_bytes - at));
            std::memcpy(slot(rank()), parts + rank() * part_bytes + at, bytes);
            meet();
            for (int64_t r = 0; r < ranks(); ++r)
                if (r != rank()) std::memcpy(parts + r * part_bytes + at, slot(r), bytes);
            turn_ ^= 1;
        }
    }

    void transpose(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        const int64_t most = kSlotBytes / ranks();
        for (int64_t at = 0; at < part_bytes; at += most) {
            const auto bytes = static_cast<size_t>(std::min(most, part_bytes - at));
            for (int64_t r = 0; r < ranks(); ++r)
                if (r != rank()) std::memcpy(slot(rank()) + r * most, parts + r * part_bytes + at, bytes);
            meet();
            for (int64_t r = 0; r < ranks(); ++r)
                if (r != rank()) std::memcpy(parts + r * part_bytes + at, slot(r) + rank() * most, bytes);
            turn_ ^= 1;
        }
    }

    // As many rows at a time as fit; of rows that do not fit pieces of the same length for all ranks.
    void place(unsigned char* whole, int64_t rows, std::span<const int64_t> starts) noexcept override {
        ++exchanges_;
        int64_t widest = 0;
        for (int64_t r = 0; r < ranks(); ++r) widest = std::max(widest, width(starts, r));
        const int64_t piece = std::min(widest, kSlotBytes);
        const int64_t rows_at_once = kSlotBytes / piece;
        for (int64_t row = 0; row < rows; row += rows_at_once)
            for (int64_t at = 0; at < widest; at += piece) {
                const Pieces pieces{whole, row, std::min(rows, row + rows_at_once), at, piece, starts};
                copy(pieces, rank(), true);
                meet();
                for (int64_t r = 0; r < ranks(); ++r)
                    if (r != rank()) copy(pieces, r, false);
                turn_ ^= 1;
            }
    }

    void broadcast(std::span<std::byte> bytes) noexcept override {
        for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(kSlotBytes)) {
            const size_t part = std::min(static_cast<size_t>(kSlotBytes), bytes.size() - at);
            if (rank() == 0) std::memcpy(slot(0), bytes.data() + at, part);
            meet();
            if (rank() != 0) std::memcpy(bytes.data() + at, slot(0), part);
            turn_ ^= 1;
        }
    }

private:
    static int64_t width(std::span<const int64_t> starts, int64_t rank) {
        return starts[static_cast<size_t>(rank) + 1] - starts[static_cast<size_t>(rank)];
    }

    struct Pieces {
        unsigned char* whole;
        int64_t first_row, last_row;  ///< half-open
        int64_t at, most;             ///< bytes from `at` on of each part, at most so many
        std::span<const int64_t> starts;
    };

    /// The rank's pieces into its slot, one behind the other, or out of it.
    void copy(const Pieces& pieces, int64_t rank, bool is_own) {
        const int64_t bytes = std::min(pieces.most, width(pieces.starts, rank) - pieces.at);
        if (bytes <= 0) return;
        unsigned char* packed = slot(rank);
        unsigned char* placed = pieces.whole + pieces.first_row * pieces.starts.back() +
                                pieces.starts[static_cast<size_t>(rank)] + pieces.at;
        for (int64_t row = pieces.first_row; row < pieces.last_row; ++row) {
            std::memcpy(is_own ? packed : placed, is_own ? placed : packed, static_cast<size_t>(bytes));
            packed += bytes;
            placed += pieces.starts.back();
        }
    }

    unsigned char* slot(int64_t rank) const {
        return shared_->data() + sizeof(Meeting) + (turn_ * ranks() + rank) * kSlotBytes;
    }

    void meet() {
        auto& meeting = *reinterpret_cast<Meeting*>(shared_->data());
        const uint32_t round = meeting.round.load(std::memory_order_acquire);
        if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(ranks())) {
            meeting.arrived.store(0, std::memory_order_relaxed);
            meeting.round.fetch_add(1, std::memory_order_release);
            futex_wake_all(meeting.round);
            return;
        }
        for (int64_t look = 0; look < spins_; ++look) {
            if (meeting.round.load(std::memory_order_acquire) != round) return;
            pause_briefly();
        }
        while (meeting.round.load(std::memory_order_acquire) == round) futex_wait(meeting.round, round);
    }

    int64_t spins_;
    int64_t turn_ = 0;
    std::shared_ptr<Mapping> shared_;
};

/// Rank 0, which watches the others.
class FirstRank : public LocalRank {
public:
    FirstRank(int64_t ranks, int64_t spins, std::shared_ptr<Mapping> shared, std::vector<pid_t> others)
        : LocalRank(0, ranks, spins, std::move(shared)),
          others_(std::move(others)),
          watcher_([this] { watch(); }) {}

    ~FirstRank() override {
        if (std::uncaught_exceptions() > 0) must_end_ = true;
        is_ending_ = true;
        watcher_.join();
    }

private:
    using Clock = std::chrono::steady_clock;

    void watch() {
        constexpr Clock::time_point kNever = Clock::time_point::max();
        Clock::time_point deadline = kNever;
        while (true) {
            size_t running = 0;
            for (size_t i = 0; i < others_.size(); ++i) running += look(i);
            if (must_end_ && running > 0) kill_all();
            if (running == 0 && is_ending_) return;
            // Ranks that have ended, or a first one that has, while others compute: these wait for ever.
            const bool is_lonely = is_ending_ || running < others_.size();
            if (!is_lonely)
                deadline = kNever;
            else if (deadline == kNever)
                deadline = Clock::now() + kPatience;
            if (Clock::now() > deadline) {
                if (!is_ending_) fail("ended before rank 0");
                kill_all();
                must_end_ = true;
            }
            std::this_thread::sleep_for(kLook);
        }
    }

    /// Whether the i-th other rank runs.
    bool look(size_t i) {
        pid_t& process = others_[i];
        if (process == 0) return false;
        int status = 0;
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        if (ended == 0) return true;
        const bool is_well = ended == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        process = 0;
        if (is_well || must_end_) return false;
        fail(WIFSIGNALED(status)
                 ? fmt::format("rank {} of {} died of signal {}", i + 1, ranks(), WTERMSIG(status))
                 : fmt::format("rank {} of {} ended with code {}", i + 1, ranks(), WEXITSTATUS(status)));
    }

    void kill_all() {
        for (const pid_t process : others_)
            if (process != 0) (void)::kill(process, SIGKILL);
    }

    [[noreturn]] void fail(const std::string& problem) {
        note("{}: the others end too", problem);
        kill_all();
        ::_exit(1);
    }

    std::vector<pid_t> others_;
    std::atomic<bool> is_ending_ = false, must_end_ = false;
    std::thread watcher_;
};

/// Of a rank whose parent, the first one, has died and cannot say so itself.
[[noreturn]] void end_with_the_first(int) {
    static constexpr char kMessage[] = "tessera: rank 0 has died: the others end too\n";
    (void)!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    ::_exit(1);
}

/// Its parent has not died before this could be asked for; its output goes nowhere.
void become_rank(pid_t parent) {
    struct sigaction action {};
    action.sa_handler = end_with_the_first;
    (void)::sigaction(SIGUSR2, &action, nullptr);
    (void)::prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (::getppid() != parent) ::_exit(1);
    (void)::setpgid(0, 0);  // the terminal interrupts rank 0, which ends the others
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)::dup2(nowhere, STDOUT_FILENO);
        (void)::dup2(nowhere, STDIN_FILENO);
    }
}

}  // namespace

std::shared_ptr<Communicator> start_local_ranks(int64_t ranks, int64_t spins) {
    TESSERA_CHECK(ranks >= 2);
    const auto shared = std::make_shared<Mapping>(shared_bytes(ranks));
    const pid_t parent = ::getpid();
    std::vector<pid_t> others;
    (void)std::fflush(nullptr);  // what is buffered would be written by all
    for (int64_t rank = 1; rank < ranks; ++rank) {
        const pid_t process = ::fork();
        if (process == 0) {
            become_rank(parent);
            return std::make_shared<LocalRank>(rank, ranks, spins, shared);
        }
        if (process < 0) {
            const int reason = errno;
            for (const pid_t each : others) (void)::kill(each, SIGKILL);
            throw Error("ranks", "",
                        fmt::format("process {} cannot be started: {}", rank, std::strerror(reason)));
        }
        others.push_back(process);
    }
    return std::make_shared<FirstRank>(ranks, spins, shared, std::move(others));
}

}  // namespace tessera::runtime
