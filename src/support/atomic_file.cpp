#include "support/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera {
namespace {

/// The file is handed over in pieces of this size, each at a multiple of it: file systems then keep it in
/// pages as large, which MappedFile maps whole.
constexpr size_t kPiece = size_t{2} << 20;

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
    // The same folder, since a rename across file systems is none. O_EXCL: two writers never share a file.
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        temporary_ = path_;
        temporary_ += fmt::format(".{}-{}.part", ::getpid(), attempt);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) fail("create");
    }
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
}

void AtomicFile::fail(std::string_view action) const {
    throw Error(path_.string(), "", fmt::format("cannot {} the file: {}", action, std::strerror(errno)));
}

void AtomicFile::put(uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0) {
            if (errno == EINTR) continue;
            fail("write");
        }
        offset += static_cast<uint64_t>(written);
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    TESSERA_CHECK(descriptor_ >= 0);
    while (!bytes.empty()) {
        const size_t part = std::min<size_t>(bytes.size(), kPiece - size_ % kPiece);
        pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        size_ += part;
        if (size_ % kPiece == 0) flush();
    }
}

void AtomicFile::flush() {
    put(size_ - pending_.size(), pending_);
    pending_.clear();
}

void AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
    TESSERA_CHECK(descriptor_ >= 0 && offset <= size_ && bytes.size() <= size_ - offset);
    flush();
    put(offset, bytes);
}

void AtomicFile::commit() {
    TESSERA_CHECK(descriptor_ >= 0);
    flush();
    // Without it a crash of the machine may leave the new name with old or no contents.
    if (::fsync(descriptor_) != 0) fail("write");
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed == 0 && ::rename(temporary_.c_str(), path_.c_str()) == 0) return;
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail("write");
}

void write_file(const std::filesystem::path& path, std::string_view content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace tessera
