#include "run/runtime/shared_library.h"

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera::runtime {
namespace {

[[noreturn]] void fail(const std::string& where, int reason) {
    throw Error(where, "code", fmt::format("cannot be put into memory: {}", std::strerror(reason)));
}

/// The descriptor of a file that exists only in memory and goes with its last descriptor or mapping.
int memory_file(std::string_view rest, const std::string& where) {
    const int descriptor = ::memfd_create("tessera-code", MFD_CLOEXEC);
    if (descriptor < 0) fail(where, errno);
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int reason = errno;
            ::close(descriptor);
            fail(where, reason);
        }
        rest.remove_prefix(static_cast<size_t>(written));
    }
    return descriptor;
}

}  // namespace

// The loader takes a known path for a library that it has loaded: while the library is in use, its descriptor
// must not be reused.
SharedLibrary::SharedLibrary(std::string_view code, const std::string& where)
    : where_(where), descriptor_(memory_file(code, where)) {
    handle_ = ::dlopen(fmt::format("/proc/self/fd/{}", descriptor_).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        const char* reason = ::dlerror();
        ::close(descriptor_);
        throw Error(where, "code",
                    fmt::format("cannot be loaded: {}", reason == nullptr ? "no reason given" : reason));
    }
}

SharedLibrary::~SharedLibrary() {
    ::dlclose(handle_);
    ::close(descriptor_);
}

void* SharedLibrary::address(const std::string& name) const {
    void* found = ::dlsym(handle_, name.c_str());
    if (found == nullptr)
        throw Error(where_, "code", fmt::format("lacks the function `{}`", name), "compile the model again");
    return found;
}

}  // namespace tessera::runtime
