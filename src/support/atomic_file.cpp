#include "support/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"
#include "support/left_over.h"

namespace tessera {
namespace {

/// The file is handed over in pieces of this size, each at a multiple of it: file systems then keep it in
/// pages as large, which MappedFile maps whole.
constexpr size_t kPiece = size_t{2} << 20;

// Part of the name of a file that is written beside another: NAME.tessera-PID-ATTEMPT.part
constexpr std::string_view kMark = ".tessera-";
constexpr std::string_view kPart = ".part";

/// An open file in `folder` without a name. -1 and errno if that fails.
int nameless_file(const std::filesystem::path& folder) {
    std::string name = (folder / "tessera-XXXXXX").string();
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
    return descriptor;
}

/// As write(2) and pwrite(2), but for all bytes. False and errno on failure.
bool write_all(int descriptor, std::span<const std::byte> bytes, const uint64_t* offset) {
    for (size_t done = 0; done < bytes.size();) {
        const std::span<const std::byte> rest = bytes.subspan(done);
        const ssize_t written =
            offset ? ::pwrite(descriptor, rest.data(), rest.size(), static_cast<off_t>(*offset + done))
                   : ::write(descriptor, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) done += static_cast<size_t>(written);
    }
    return true;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, Order order)
    : path_(path), order_(order), place_(output_place(path)) {
    using Kind = OutputPlace::Kind;
    // Earlier output must come first.
    if (place_.kind == Kind::kDescriptor) std::fflush(stdout);
    is_direct_ =
        order == Order::kForward && (place_.kind == Kind::kStream || place_.kind == Kind::kDescriptor);
    if (is_direct_)
        descriptor_ = open_target();
    else if (place_.kind == Kind::kFile)
        open_beside();
    else
        open_aside();
    if (descriptor_ < 0) fail("open");
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    ::close(descriptor_);
}

void AtomicFile::fail(std::string_view action) const {
    throw Error(path_.string(), "", fmt::format("cannot {} the file: {}", action, std::strerror(errno)));
}

/// Opens it in the same folder, since a rename cannot cross file systems.
void AtomicFile::open_beside() {
    const std::filesystem::path folder = place_.path.parent_path();
    const std::string start = std::string(short_name(place_.path.filename().native())) + std::string(kMark);
    remove_left_over(folder.empty() ? "." : folder, std::filesystem::file_type::regular,
                     [&](std::string_view name) { return name.starts_with(start) && name.ends_with(kPart); });
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        temporary_ = folder / fmt::format("{}{}-{}{}", start, ::getpid(), attempt, kPart);
        // O_EXCL: two writers never share a file.
        descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) fail("create");
        if (descriptor_ >= 0 && !claim(descriptor_)) ::close(std::exchange(descriptor_, -1));
    }
    if (place_.replaced && ::fchmod(descriptor_, place_.replaced->mode) != 0) fail("create");
}

/// Opens a temporary file: the target is not written until the contents are complete.
void AtomicFile::open_aside() {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    descriptor_ = nameless_file(error ? "/tmp" : folder);
    if (descriptor_ < 0)
        throw Error(path_.string(), "",
                    fmt::format("cannot be written: there is no temporary file: {}", std::strerror(errno)),
                    "set TMPDIR to a folder that you may write");
}

int AtomicFile::open_target() const {
    if (place_.kind == OutputPlace::Kind::kDescriptor) return ::fcntl(place_.descriptor, F_DUPFD_CLOEXEC, 0);
    return ::open(place_.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
}

void AtomicFile::put(uint64_t offset, std::span<const std::byte> bytes) {
    if (!write_all(descriptor_, bytes, is_direct_ ? nullptr : &offset)) fail("write");
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
    TESSERA_CHECK(order_ == Order::kAny);
    flush();
    put(offset, bytes);
}

void AtomicFile::commit() {
    TESSERA_CHECK(descriptor_ >= 0);
    flush();
    if (!temporary_.empty())
        take_name();
    else if (!is_direct_)
        copy_to_target();
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
}

void AtomicFile::take_name() {
    // Without it a crash of the machine may leave the new name with old or no contents.
    if (::fsync(descriptor_) != 0) fail("write");
    // Only root may give the file to its previous owner.
    if (place_.replaced && ::fchown(descriptor_, place_.replaced->owner, place_.replaced->group) != 0)
        errno = 0;
    if (::rename(temporary_.c_str(), place_.path.c_str()) == 0) {
        temporary_.clear();
        return;
    }
    // A file that is mounted, or of another user in /tmp, keeps its name; its contents may still change.
    if (!place_.replaced) fail("write");
    copy_to_target();
    ::unlink(std::exchange(temporary_, {}).c_str());
}

void AtomicFile::copy_to_target() {
    const int target = open_target();
    if (target < 0) fail("open");
    std::vector<std::byte> piece(kPiece);
    bool is_good = true;
    for (uint64_t done = 0; is_good && done < size_;) {
        const ssize_t count = ::pread(descriptor_, piece.data(), piece.size(), static_cast<off_t>(done));
        is_good = count > 0 && write_all(target, std::span(piece).first(static_cast<size_t>(count)), nullptr);
        done += static_cast<uint64_t>(std::max<ssize_t>(count, 0));
    }
    const int reason = errno;
    const bool is_closed = ::close(target) == 0;
    if (is_good && is_closed) return;
    if (!is_good) errno = reason;
    fail("write");
}

void remove_parts(const std::filesystem::path& folder) {
    remove_left_over(folder, std::filesystem::file_type::regular, [](std::string_view name) {
        return name.find(kMark) != std::string_view::npos && name.ends_with(kPart);
    });
}

void write_file(const std::filesystem::path& path, std::string_view content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace tessera
