#include "cli/arrays/npz_archive.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include "support/error.h"
#include "support/printable.h"

namespace tessera::arrays {
namespace {

constexpr std::string_view kSuffix = ".npy";
/// Names that a message lists.
constexpr size_t kMostListed = 20;

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Member = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

std::string text_of(zip_error_t& error) {
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

Archive open_archive(std::span<const std::byte> file, const std::string& where) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(file.data(), file.size(), 0, &error);
    Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr, zip_discard);
    if (!archive) {
        zip_source_free(source);
        throw Error(where, "", "is a damaged archive of NumPy files: " + text_of(error));
    }
    zip_error_fini(&error);
    return archive;
}

/// The place of the member that has the array. @throws Error where there is none, or it is one of several
zip_uint64_t index_of(zip_t& archive, const std::string& name, const std::string& where) {
    std::vector<std::string> names;
    const zip_int64_t count = zip_get_num_entries(&archive, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* own = zip_get_name(&archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
        std::string text = own ? own : "";
        if (text.ends_with(kSuffix)) text.resize(text.size() - kSuffix.size());
        if (text == name) return static_cast<zip_uint64_t>(i);
        names.push_back(std::move(text));
    }
    if (count == 1) return 0;
    if (count <= 0) throw Error(where, "", "has no arrays");
    const size_t listed = std::min(names.size(), kMostListed);
    for (std::string& each : names) each = printable(each);
    throw Error(
        where, name, fmt::format("is none of its {} arrays", names.size()),
        fmt::format("it has {}{}",
                    fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                    listed < names.size() ? ", ..." : ""));
}

}  // namespace

bool is_npz(std::span<const std::byte> file) {
    constexpr std::string_view kMember = "PK\3\4", kNothing = "PK\5\6";
    const std::string_view begin(reinterpret_cast<const char*>(file.data()),
                                 std::min(file.size(), kMember.size()));
    return begin == kMember || begin == kNothing;
}

std::vector<std::byte> npz_member(std::span<const std::byte> file, const std::string& name,
                                  uint64_t most_bytes, const std::string& where) {
    const Archive archive = open_archive(file, where);
    const zip_uint64_t index = index_of(*archive, name, where);
    zip_stat_t stat;
    zip_stat_init(&stat);
    const bool is_stated =
        zip_stat_index(archive.get(), index, 0, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0;
    if (is_stated && stat.size > most_bytes)
        throw Error(where, name, fmt::format("has {} bytes, expected at most {}", stat.size, most_bytes));
    const Member member(is_stated ? zip_fopen_index(archive.get(), index, 0) : nullptr, zip_fclose);
    std::vector<std::byte> bytes(member ? stat.size : 0);
    const zip_int64_t read = member ? zip_fread(member.get(), bytes.data(), bytes.size()) : -1;
    // The check of its contents happens where the member ends.
    std::byte beyond{};
    const bool is_whole =
        read == static_cast<zip_int64_t>(bytes.size()) && zip_fread(member.get(), &beyond, 1) == 0;
    if (!is_whole)
        throw Error(where, name,
                    member ? "is no whole member of the archive"
                           : std::string("cannot be unpacked: ") + zip_strerror(archive.get()),
                    "save the arrays by numpy.savez or numpy.savez_compressed");
    return bytes;
}

}  // namespace tessera::arrays
