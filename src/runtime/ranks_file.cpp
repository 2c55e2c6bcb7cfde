#include "runtime/ranks_file.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "runtime/artefact_format.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::runtime {
namespace {

constexpr std::array<unsigned char, 8> kRanksMagic = {0x89, 'T', 'S', 'R', 'n', '\r', '\n', 0x1a};
constexpr uint32_t kRanksVersion = 2;  ///< 1: artefacts that only gather
constexpr size_t kMostRanks = 128;
constexpr uint64_t kPage = artefact_format::kConstantsAlignment;

/// As it lies in the file, little-endian.
struct RanksHeader {
    std::array<unsigned char, 8> magic = kRanksMagic;
    uint32_t version = kRanksVersion;
    uint32_t ranks = 0;
    uint64_t checksum = 0;  ///< of the header with zero in its place, and of the account
    RanksTable::Part account;
    std::array<RanksTable::Part, kMostRanks> parts{};
};
static_assert(sizeof(RanksHeader) <= kPage);

uint64_t whole_pages(uint64_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

uint64_t checksum_of(RanksHeader header, std::string_view account) {
    header.checksum = 0;
    std::string signed_text(reinterpret_cast<const char*>(&header), sizeof header);
    signed_text += account;
    return XXH3_64bits(signed_text.data(), signed_text.size());
}

}  // namespace

bool is_ranks_text(std::string_view file) {
    return file.size() >= kRanksMagic.size() &&
           std::memcmp(file.data(), kRanksMagic.data(), kRanksMagic.size()) == 0;
}

bool is_ranks_file(const std::filesystem::path& path) {
    return is_ranks_text(MappedFile::open(path).text());
}

RanksTable read_ranks_table(std::string_view file, const std::string& where) {
    const auto damaged = [&](const char* problem) {
        throw Error(where, "ranks", problem, "compile the model again");
    };
    if (!is_ranks_text(file)) damaged("are missing: the file is for one process");
    RanksHeader header;
    if (file.size() < kPage) damaged("are truncated");
    std::memcpy(&header, file.data(), sizeof header);
    if (header.version < 1 || header.version > kRanksVersion)
        throw Error(where, "",
                    fmt::format("has format version {} of ranks, this Tessera reads {}", header.version,
                                kRanksVersion),
                    "compile the model again with this version");
    if (header.ranks < 2 || header.ranks > kMostRanks) damaged("are of a number that cannot be");
    const auto lies_within = [&](const RanksTable::Part& part) {
        return part.offset % kPage == 0 && part.offset <= file.size() &&
               part.size <= file.size() - part.offset;
    };
    RanksTable table{.account = header.account, .parts = {}};
    if (!lies_within(header.account)) damaged("are damaged or truncated");
    for (size_t r = 0; r < header.ranks; ++r) {
        if (!lies_within(header.parts[r])) damaged("are damaged or truncated");
        table.parts.push_back(header.parts[r]);
    }
    if (header.checksum != checksum_of(header, file.substr(header.account.offset, header.account.size)))
        damaged("are damaged: the checksum does not fit");
    return table;
}

std::string read_ranks_account(const std::filesystem::path& path) {
    const MappedFile file = MappedFile::open(path);
    const RanksTable table = read_ranks_table(file.text(), path.string());
    return std::string(file.text().substr(table.account.offset, table.account.size));
}

int64_t write_ranks_file(const std::filesystem::path& path, std::string_view account,
                         const std::vector<std::filesystem::path>& artefacts) {
    TESSERA_CHECK(artefacts.size() >= 2);
    if (artefacts.size() > kMostRanks)
        throw Error(path.string(), "ranks",
                    fmt::format("are {}, expected at most {}", artefacts.size(), kMostRanks));
    RanksHeader header;
    header.ranks = static_cast<uint32_t>(artefacts.size());
    uint64_t end = kPage;
    const auto place = [&](uint64_t size) {
        const RanksTable::Part part{end, size};
        end = whole_pages(end + size);
        return part;
    };
    header.account = place(account.size());
    for (size_t r = 0; r < artefacts.size(); ++r)
        header.parts[r] = place(std::filesystem::file_size(artefacts[r]));
    header.checksum = checksum_of(header, account);
    AtomicFile file(path);
    uint64_t at = 0;
    const auto write = [&](uint64_t offset, std::string_view bytes) {
        const std::string zeros(offset - at, '\0');
        file.write(std::string_view(zeros));
        file.write(bytes);
        at = offset + bytes.size();
    };
    write(0, {reinterpret_cast<const char*>(&header), sizeof header});
    write(header.account.offset, account);
    for (size_t r = 0; r < artefacts.size(); ++r)
        write(header.parts[r].offset, MappedFile::open(artefacts[r]).text());
    file.commit();
    return static_cast<int64_t>(at);
}

}  // namespace tessera::runtime
