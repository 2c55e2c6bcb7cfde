// Processes that mpirun has started. Open MPI's C interface is loaded on demand: its handles are addresses of
// objects in the library, so neither its headers nor the library are needed to build.
#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "run/runtime/communicator.h"
#include "support/error.h"
#include "support/note.h"

namespace tessera::runtime {
namespace {

class MpiLibrary {
public:
    MpiLibrary() {
        for (const char* name : {"libmpi.so.40", "libmpi.so"})
            if (!handle_) handle_ = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (!handle_) {
            const char* problem = ::dlerror();
            throw Error("mpirun", "libmpi.so", fmt::format("cannot be loaded: {}", problem ? problem : "?"),
                        "install Open MPI, or run without mpirun on one machine");
        }
        world = symbol("ompi_mpi_comm_world");
        byte = symbol("ompi_mpi_byte");
        load(init, "MPI_Init_thread");
        load(rank, "MPI_Comm_rank");
        load(size, "MPI_Comm_size");
        load(gather, "MPI_Allgather");
        load(gather_parts, "MPI_Allgatherv");
        load(transpose, "MPI_Alltoall");
        load(broadcast, "MPI_Bcast");
        load(abort, "MPI_Abort");
        load(finalize, "MPI_Finalize");
    }

    using Handle = void*;
    Handle world, byte;
    int (*init)(int*, char***, int, int*);
    int (*rank)(Handle, int*);
    int (*size)(Handle, int*);
    int (*gather)(const void*, int, Handle, void*, int, Handle, Handle);
    int (*gather_parts)(const void*, int, Handle, void*, const int*, const int*, Handle, Handle);
    int (*transpose)(const void*, int, Handle, void*, int, Handle, Handle);
    int (*broadcast)(void*, int, Handle, int, Handle);
    int (*abort)(Handle, int);
    int (*finalize)();

private:
    void* symbol(const char* name) {
        void* found = ::dlsym(handle_, name);
        if (!found)
            throw Error("mpirun", name, "is missing in the MPI library that is installed",
                        "install Open MPI");
        return found;
    }
    template <typename F>
    void load(F& function, const char* name) {
        function = reinterpret_cast<F>(symbol(name));
    }

    void* handle_ = nullptr;  ///< stays loaded: MPI cannot be started twice
};

class MpiRank : public Communicator {
public:
    MpiRank(MpiLibrary library, int rank, int ranks) : Communicator(rank, ranks), mpi_(library) {}
    ~MpiRank() override {
        // Without MPI's finalize the launcher takes this process for one that has died, and ends the others.
        if (std::uncaught_exceptions() == 0) mpi_.finalize();
    }

    void gather(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        if (part_bytes > INT_MAX) fail("a part is larger than MPI counts");
        const auto bytes = static_cast<int>(part_bytes);
        if (mpi_.gather(kInPlace, 0, mpi_.byte, parts, bytes, mpi_.byte, mpi_.world) != 0)
            fail("MPI_Allgather failed");
    }

    void transpose(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++exchanges_;
        if (part_bytes > INT_MAX) fail("a part is larger than MPI counts");
        const auto bytes = static_cast<int>(part_bytes);
        if (mpi_.transpose(kInPlace, 0, mpi_.byte, parts, bytes, mpi_.byte, mpi_.world) != 0)
            fail("MPI_Alltoall failed");
    }

    // Packed, part after part, since MPI has no rows without types of its own.
    void place(unsigned char* whole, int64_t rows, std::span<const int64_t> starts) noexcept override {
        ++exchanges_;
        const int64_t row_bytes = starts.back();
        if (rows * row_bytes > INT_MAX) fail("a tensor is larger than MPI counts");
        packed_.resize(static_cast<size_t>(rows * row_bytes));
        std::vector<int> counts, offsets;
        for (size_t r = 0; r + 1 < starts.size(); ++r) {
            counts.push_back(static_cast<int>(rows * (starts[r + 1] - starts[r])));
            offsets.push_back(static_cast<int>(rows * starts[r]));
        }
        const auto copy = [&](size_t r, bool packs) {
            const auto bytes = static_cast<size_t>(starts[r + 1] - starts[r]);
            for (int64_t row = 0; row < rows; ++row) {
                unsigned char* placed = whole + row * row_bytes + starts[r];
                unsigned char* packed = packed_.data() + offsets[r] + static_cast<size_t>(row) * bytes;
                std::memcpy(packs ? packed : placed, packs ? placed : packed, bytes);
            }
        };
        copy(static_cast<size_t>(rank()), true);
        if (mpi_.gather_parts(kInPlace, 0, mpi_.byte, packed_.data(), counts.data(), offsets.data(),
                              mpi_.byte, mpi_.world) != 0)
            fail("MPI_Allgatherv failed");
        for (size_t r = 0; r < counts.size(); ++r)
            if (r != static_cast<size_t>(rank())) copy(r, false);
    }

    void broadcast(std::span<std::byte> bytes) noexcept override {
        if (bytes.size() > INT_MAX ||
            mpi_.broadcast(bytes.data(), static_cast<int>(bytes.size()), mpi_.byte, 0, mpi_.world) != 0)
            fail("MPI_Bcast failed");
    }

private:
    [[noreturn]] void fail(const char* problem) {
        note("rank {} of {}: {}", rank(), ranks(), problem);
        mpi_.abort(mpi_.world, 1);
        std::_Exit(1);
    }

    static inline void* const kInPlace = reinterpret_cast<void*>(1);  // MPI_IN_PLACE of Open MPI

    MpiLibrary mpi_;
    std::vector<unsigned char> packed_;
};

/// The earlier handlers of signals of broken programs. Open MPI's handlers print the stack, for which they
/// allocate memory: a rank that dies within an allocation would wait for itself, and the others for it.
class DeadlySignals {
public:
    DeadlySignals() {
        for (size_t i = 0; i < kSignals.size(); ++i) (void)::sigaction(kSignals[i], nullptr, &actions_[i]);
    }
    void restore() const {
        for (size_t i = 0; i < kSignals.size(); ++i) (void)::sigaction(kSignals[i], &actions_[i], nullptr);
    }

private:
    static constexpr std::array kSignals = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    std::array<struct sigaction, kSignals.size()> actions_{};
};

}  // namespace

std::shared_ptr<Communicator> join_mpi() {
    const MpiLibrary mpi;
    int rank = 0, ranks = 0;
    const DeadlySignals before;
    constexpr int kFunneled =
        1;  // the first rank of a process, in its main thread, exchanges for all (rank_group.h)
    int provided = 0;
    const bool is_started = mpi.init(nullptr, nullptr, kFunneled, &provided) == 0 && provided >= kFunneled;
    before.restore();
    if (!is_started || mpi.rank(mpi.world, &rank) != 0 || mpi.size(mpi.world, &ranks) != 0)
        throw Error("mpirun", "", "MPI cannot be started");
    if (rank != 0 && !std::freopen("/dev/null", "w", stdout))
        throw Error("mpirun", "", "a rank cannot give up its standard output");
    return std::make_shared<MpiRank>(mpi, rank, ranks);
}

}  // namespace tessera::runtime
