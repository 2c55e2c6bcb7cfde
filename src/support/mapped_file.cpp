#include "support/mapped_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"
#include "support/huge_pages.h"

namespace tessera {
namespace {

/// Closes the descriptor on every path; the mapping outlives it.
struct MappedDescriptor {
    int value = -1;
    ~MappedDescriptor() {
        if (value >= 0) ::close(value);
    }
};

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action) {
    throw Error(path.string(), "", fmt::format("cannot {} the file: {}", action, std::strerror(errno)));
}

/// Reading weights once a token, misses of the TLB cost a tenth of the time where the file system keeps huge
/// pages and the file is not mapped for them. MAP_FAILED and errno as mmap.
void* map_in_huge_pages(int descriptor, size_t size) {
    void* address = map_aligned(size, PROT_NONE);
    if (address == MAP_FAILED) return address;
    void* mapped = ::mmap(address, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        const int reason = errno;
        ::munmap(address, size);
        errno = reason;
        return mapped;
    }
    want_huge_pages(mapped, size);
    return mapped;
}

/// Does not wait for the writer of a pipe: anything but a regular file is refused.
int open_to_read(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

size_t size_of(int descriptor, const std::filesystem::path& path) {
    if (descriptor < 0) fail(path, "open");
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) fail(path, "examine");
    if (S_ISFIFO(status.st_mode))
        throw Error(path.string(), "",
                    "is a pipe, expected a file, whose parts are read when they are needed",
                    "save it as a file, and name that");
    if (S_ISDIR(status.st_mode)) throw Error(path.string(), "", "is a folder, expected a file");
    if (!S_ISREG(status.st_mode)) throw Error(path.string(), "", "is not a regular file");
    return static_cast<size_t>(status.st_size);
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) {
    const MappedDescriptor descriptor{open_to_read(path)};
    const size_t size = size_of(descriptor.value, path);
    MappedFile result;
    if (size == 0) return result;  // mmap refuses length zero
    void* address = size >= kHugePage ? map_in_huge_pages(descriptor.value, size)
                                      : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.value, 0);
    if (address == MAP_FAILED) fail(path, "map");
    result.bytes_ = {static_cast<const std::byte*>(address), size};
    return result;
}

MappedFile MappedFile::open(const std::filesystem::path& path, std::span<const Range> ranges) {
    const MappedDescriptor descriptor{open_to_read(path)};
    const size_t all = size_of(descriptor.value, path);
    size_t size = 0;
    for (const Range& range : ranges) {
        TESSERA_CHECK(range.offset <= all && range.size <= all - range.offset, "a range of {}",
                      path.string());
        size += range.size;
    }
    MappedFile result;
    if (size == 0) return result;
    // As far from a huge page as the first range is in the file.
    const size_t skipped = size < kHugePage ? 0 : ranges.front().offset % kHugePage;
    auto* const reserved = static_cast<std::byte*>(map_aligned(size + skipped, PROT_NONE));
    if (reserved == MAP_FAILED) fail(path, "map");
    if (skipped > 0) ::munmap(reserved, skipped);
    std::byte* const begin = reserved + skipped;
    result.bytes_ = {begin, size};
    std::byte* at = begin;
    for (const Range& range : ranges) {
        if (::mmap(at, range.size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor.value,
                   static_cast<off_t>(range.offset)) == MAP_FAILED)
            fail(path, "map");
        at += range.size;
    }
    if (size >= kHugePage) want_huge_pages(begin, size);
    return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    // The old mapping leaves with `other`.
    std::swap(bytes_, other.bytes_);
    return *this;
}

void MappedFile::fetch(std::span<const std::byte> part) const {
    advise(part, MADV_POPULATE_READ);
}

void MappedFile::release(std::span<const std::byte> part) const {
    advise(part, MADV_DONTNEED);
}

void MappedFile::advise(std::span<const std::byte> part, int advice) const {
    if (part.empty()) return;
    TESSERA_CHECK(part.data() >= bytes_.data() && part.data() + part.size() <= bytes_.data() + bytes_.size());
    // Whole pages, from the one that holds the first byte: nothing was ever written to them.
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t before = reinterpret_cast<uintptr_t>(part.data()) % page;
    // A hint: where the system refuses it, the pages stay as they are.
    (void)::madvise(const_cast<std::byte*>(part.data() - before), part.size() + before, advice);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tessera
