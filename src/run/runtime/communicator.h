#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

/// The exchanges between the ranks of a program: threads (run/runtime/rank_group.h) and processes that
/// compute every step together, each with its part of the model (docs/ranks.md).
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
    /// The ranks call it in one order with one size. A rank that fails ends the whole program.
    virtual void gather(unsigned char* parts, int64_t part_bytes) noexcept = 0;
    /// `parts` holds `part_bytes` for each rank; returns with the part of each of them for the caller.
    virtual void transpose(unsigned char* parts, int64_t part_bytes) noexcept = 0;
    /// In each of `rows` rows of starts.back() bytes the part of rank r lies from starts[r] to starts[r + 1].
    /// The caller's own is given; returns with those of all.
    virtual void place(unsigned char* whole, int64_t rows, std::span<const int64_t> starts) noexcept = 0;
    /// Copies the bytes of rank 0 to all ranks.
    virtual void broadcast(std::span<std::byte> bytes) noexcept = 0;

    /// The number of times that the ranks have exchanged parts.
    int64_t exchanges() const { return exchanges_; }

protected:
    int64_t exchanges_ = 0;

private:
    int64_t rank_, ranks_;
};

/// The processes that `mpirun` has started, by Open MPI, which is loaded here and is not needed at build
/// time. Its launcher ends all ranks if one dies.
/// @throws Error if the library is missing or is not Open MPI
std::shared_ptr<Communicator> join_mpi();

}  // namespace tessera::runtime
