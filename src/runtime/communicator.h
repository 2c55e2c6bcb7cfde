#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

/// What the ranks of a program have in common: threads (runtime/rank_group.h) and processes that compute
/// every step together, each with its part of the model (docs/ranks.md).
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
    /// `parts` holds `part_bytes` for each rank; returns with what each of them has for the caller.
    virtual void transpose(unsigned char* parts, int64_t part_bytes) noexcept = 0;
    /// In each of `rows` rows of starts.back() bytes the part of rank r lies from starts[r] to starts[r + 1],
    /// the caller's own is there; returns with those of all.
    virtual void place(unsigned char* whole, int64_t rows, std::span<const int64_t> starts) noexcept = 0;
    /// The bytes of rank 0, everywhere.
    virtual void broadcast(std::span<std::byte> bytes) noexcept = 0;

    /// How often the ranks have exchanged parts.
    int64_t exchanges() const { return exchanges_; }

protected:
    int64_t exchanges_ = 0;

private:
    int64_t rank_, ranks_;
};

/// The processes that `mpirun` has started, by Open MPI, which is loaded here and was not needed to build
/// this. Its launcher ends all ranks where one dies.
/// @throws Error if the library is missing or another one
std::shared_ptr<Communicator> join_mpi();

}  // namespace tessera::runtime
