// Ranks that mpirun has started. Open MPI's C interface is loaded when it is asked for: its handles are
// addresses of objects in the library, so that neither its headers nor the library are needed to build.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <dlfcn.h>

#include "runtime/communicator.h"
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
        load(init, "MPI_Init");
        load(rank, "MPI_Comm_rank");
        load(size, "MPI_Comm_size");
        load(gather, "MPI_Allgather");
        load(broadcast, "MPI_Bcast");
        load(abort, "MPI_Abort");
        load(finalize, "MPI_Finalize");
    }

    using Handle = void*;
    Handle world, byte;
    int (*init)(int*, char***);
    int (*rank)(Handle, int*);
    int (*size)(Handle, int*);
    int (*gather)(const void*, int, Handle, void*, int, Handle, Handle);
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
        // Without the end of MPI the launcher takes this process for one that has died, and ends the others.
        if (std::uncaught_exceptions() == 0) mpi_.finalize();
    }

    void gather(unsigned char* parts, int64_t part_bytes) noexcept override {
        ++gathers_;
        if (part_bytes > INT_MAX) fail("a part is larger than MPI counts");
        const auto bytes = static_cast<int>(part_bytes);
        void* const in_place = reinterpret_cast<void*>(1);  // MPI_IN_PLACE of Open MPI
        if (mpi_.gather(in_place, 0, mpi_.byte, parts, bytes, mpi_.byte, mpi_.world) != 0)
            fail("MPI_Allgather failed");
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

    MpiLibrary mpi_;
};

}  // namespace

std::shared_ptr<Communicator> join_mpi() {
    const MpiLibrary mpi;
    int rank = 0, ranks = 0;
    if (mpi.init(nullptr, nullptr) != 0 || mpi.rank(mpi.world, &rank) != 0 ||
        mpi.size(mpi.world, &ranks) != 0)
        throw Error("mpirun", "", "MPI cannot be started");
    if (rank != 0 && !std::freopen("/dev/null", "w", stdout))
        throw Error("mpirun", "", "a rank cannot give up its standard output");
    return std::make_shared<MpiRank>(mpi, rank, ranks);
}

}  // namespace tessera::runtime
