#pragma once

#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera::fuzz {

/// A file in memory with a path, for parsers that open one.
class InputFile {
public:
    explicit InputFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        TESSERA_CHECK(descriptor_ >= 0);
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            TESSERA_CHECK(written > 0);
            bytes.remove_prefix(static_cast<size_t>(written));
        }
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() { ::close(descriptor_); }

    std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

private:
    int descriptor_;
};

}  // namespace tessera::fuzz
