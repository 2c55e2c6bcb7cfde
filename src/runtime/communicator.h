#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

/// What the ranks of a program have in common: processes that compute every step together, each with its part
/// of the model (docs/ranks.md).
namespace tessera::runtime {

class Communicator {
public:
    Communicator(int64_t rank, int64_t ranks) : rank_(rank), ranks_(ranks) {}
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    int64_t rank() const { return rank_; }
    int64_t ranks() const { return ranks_; }

    /// `parts` holds `part_bytes` for each rank, the caller's own at its place; returns with those of all.
    /// The ranks call it in one order with one size. A rank that cannot go on ends the whole program.
    virtual void gather(unsigned char* parts, int64_t part_bytes) noexcept = 0;
    /// The bytes of rank 0, everywhere.
    virtual void broadcast(std::span<std::byte> bytes) noexcept = 0;

    /// How often `gather` has been called.
    int64_t gathers() const { return gathers_; }

protected:
    int64_t gathers_ = 0;

private:
    int64_t rank_, ranks_;
};

/// Starts ranks - 1 processes like this one, which is rank 0; returns in each of them. They meet in memory
/// that they share and that goes with them. The others write nothing to the standard output. If one of them
/// dies, or ends before this one, this one ends too, with a message and exit code 1; they end with it.
/// @param spins looks at a changed number before sleeping; 0 where processors are fewer than what computes
/// @pre no other thread runs @throws Error where the system refuses a process
std::shared_ptr<Communicator> start_local_ranks(int64_t ranks, int64_t spins);

/// The ranks that `mpirun` has started, by Open MPI, which is loaded here and was not needed to build this.
/// Its launcher ends all ranks where one dies.
/// @throws Error if the library is missing or another one
std::shared_ptr<Communicator> join_mpi();

}  // namespace tessera::runtime
