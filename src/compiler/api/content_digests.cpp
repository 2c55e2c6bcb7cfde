#include "compiler/api/content_digests.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/in_order.h"
#include "support/mapped_file.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSmallBytes = uint64_t{1} << 20;
/// The bytes that one thread hashes at a time. The digest depends on it.
constexpr size_t kPartBytes = size_t{16} << 20;
/// Linux writes dirty pages out after 30 seconds (vm.dirty_expire_centisecs), and looks every 5.
constexpr int64_t kSettledSeconds = 60;

/// The file systems of linux/magic.h and of OpenZFS that renew the time of change with every write, even
/// through mappings: ext, XFS, Btrfs, F2FS, bcachefs, ZFS, and overlays, which pass it on.
constexpr std::array<uint32_t, 7> kTrusted = {0xEF53,     0x58465342, 0x9123683E, 0xF2F52010,
                                              0xCA451A4E, 0x2FC12FC1, 0x794C7630};

bool is_trusted(const fs::path& file) {
    struct statfs system {};
    if (::statfs(file.c_str(), &system) != 0) return false;
    return std::find(kTrusted.begin(), kTrusted.end(), static_cast<uint32_t>(system.f_type)) !=
           kTrusted.end();
}

struct stat status_of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        throw Error(file.string(), "",
                    "cannot be read: " + std::error_code(errno, std::generic_category()).message());
    return status;
}

/// The properties that change with the contents, or with the file that has the name.
std::string state_of(const struct stat& status) {
    return fmt::format("{} {} {} {}.{:09} {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                       status.st_ctim.tv_nsec);
}

bool has_settled(const struct stat& status) {
    return std::time(nullptr) - status.st_ctim.tv_sec > kSettledSeconds;
}

std::string digest_of(const MappedFile& file) {
    const std::span<const std::byte> all = file.bytes();
    std::vector<std::string> parts((all.size() + kPartBytes - 1) / kPartBytes);
    run_at_once(parts.size(), [&](size_t i) {
        const auto part = all.subspan(i * kPartBytes, std::min(kPartBytes, all.size() - i * kPartBytes));
        file.fetch(part);
        parts[i] = Hasher().bytes(part).hex();
        file.release(part);
    });
    Hasher whole;
    for (const std::string& part : parts) whole.field(part);
    return whole.hex();
}

constexpr size_t kDigestDigits = 32;

/// The entry has a line for the state, and one for the digest.
std::optional<std::string> kept_digest(const fs::path& entry, const std::string& state) {
    std::error_code error;
    if (!fs::is_regular_file(entry, error)) return std::nullopt;
    try {
        const MappedFile file = MappedFile::open(entry);
        const std::string_view text = file.text();
        if (text.size() != state.size() + 1 + kDigestDigits + 1 || !text.starts_with(state + '\n'))
            return std::nullopt;
        return std::string(text.substr(state.size() + 1, kDigestDigits));
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// If nothing can be written, files are read again the next time.
void keep_digest(const fs::path& entry, const std::string& state, const std::string& digest) {
    std::error_code error;
    fs::create_directories(entry.parent_path(), error);
    try {
        write_file(entry, fmt::format("{}\n{}\n", state, digest));
    } catch (const Error&) {
    }
}

}  // namespace

std::string ContentDigests::digest(const fs::path& file) const {
    const struct stat before = status_of(file);
    const std::string state = state_of(before);
    const bool is_kept = !folder_.empty() && static_cast<uint64_t>(before.st_size) > kSmallBytes &&
                         has_settled(before) && is_trusted(file);
    const fs::path entry = folder_ / hash_hex(fs::absolute(file).string());
    if (is_kept)
        if (auto known = kept_digest(entry, state)) return *std::move(known);
    std::string digest = digest_of(MappedFile::open(file));
    if (state_of(status_of(file)) != state)
        throw Error(file.string(), "", "changes while it is read", "try again when it is complete");
    if (is_kept) keep_digest(entry, state, digest);
    return digest;
}

}  // namespace tessera
