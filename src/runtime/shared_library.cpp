#include "runtime/shared_library.h"

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera {
namespace {

/// A file that exists only in memory and goes with its last descriptor or mapping.
struct MemoryFile {
    MemoryFile(std::string_view rest, const std::string& where)
        : descriptor(::memfd_create("tessera-code", MFD_CLOEXEC)) {
        if (descriptor < 0) fail(where);
        while (!rest.empty()) {
            const ssize_t written = ::write(descriptor, rest.data(), rest.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) {
                const int reason = errno;
                ::close(descriptor);
                errno = reason;
                fail(where);
            }
            rest.remove_prefix(static_cast<size_t>(written));
        }
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(descriptor); }

    [[noreturn]] static void fail(const std::string& where) {
        throw Error(where, "code", fmt::format("cannot be put into memory: {}", std::strerror(errno)));
    }

    int descriptor;
};

}  // namespace

SharedLibrary::SharedLibrary(std::string_view code, const std::string& where) : where_(where) {
    const MemoryFile file(code, where);
    handle_ = ::dlopen(fmt::format("/proc/self/fd/{}", file.descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        const char* reason = ::dlerror();
        throw Error(where, "code",
                    fmt::format("cannot be loaded: {}", reason == nullptr ? "no reason given" : reason));
    }
}

SharedLibrary::~SharedLibrary() {
    ::dlclose(handle_);
}

void* SharedLibrary::address(const std::string& name) const {
    void* found = ::dlsym(handle_, name.c_str());
    if (found == nullptr) throw Error(where_, "code", fmt::format("lacks the function `{}`", name));
    return found;
}

}  // namespace tessera
