#include "run/runtime/ranks_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <xxhash.h>

#include "run/runtime/artefact_format.h"
#include "run/runtime/shared_runs.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/mapped_file.h"

namespace tessera::runtime {
namespace {

constexpr std::array<unsigned char, 8> kRanksMagic = {0x89, 'T', 'S', 'R', 'n', '\r', '\n', 0x1a};
constexpr uint32_t kRanksVersion = 3;  ///< 2: each artefact was one run
constexpr size_t kMostRanks = 128;
constexpr uint64_t kMostRuns = 16'384;  ///< of a rank: the system maps some 65,000
constexpr uint64_t kPage = artefact_format::kConstantsAlignment;

/// As it lies in the file, little-endian.
struct RanksHeader {
    std::array<unsigned char, 8> magic = kRanksMagic;
    uint32_t version = kRanksVersion;
    uint32_t ranks = 0;
    uint64_t checksum = 0;  ///< of the header with zero in its place, the account and the runs
    RanksTable::Part account;
    RanksTable::Part runs;                          ///< a table of RanksTable::Part, those of rank 0 first
    std::array<uint32_t, kMostRanks> run_counts{};  ///< by rank
};
static_assert(sizeof(RanksHeader) <= kPage);

uint64_t checksum_of(RanksHeader header, std::string_view account, std::string_view runs) {
    header.checksum = 0;
    std::string signed_text(reinterpret_cast<const char*>(&header), sizeof header);
    signed_text += account;
    signed_text += runs;
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
    if (header.version != kRanksVersion)
        throw Error(where, "",
                    fmt::format("has format version {} of ranks, this Tessera reads {}", header.version,
                                kRanksVersion),
                    "compile the model again with this version");
    if (header.ranks < 2 || header.ranks > kMostRanks) damaged("are of a number that cannot be");
    const auto text_of = [&](const RanksTable::Part& part) {
        if (part.offset % kPage != 0 || part.offset > file.size() || part.size > file.size() - part.offset)
            damaged("are damaged or truncated");
        return file.substr(part.offset, part.size);
    };
    const std::string_view account = text_of(header.account), runs = text_of(header.runs);
    if (header.checksum != checksum_of(header, account, runs))
        damaged("are damaged: the checksum does not fit");
    RanksTable table{.account = header.account, .parts = {}};
    uint64_t at = 0;
    for (size_t r = 0; r < header.ranks; ++r) {
        const uint64_t bytes = header.run_counts[r] * sizeof(RanksTable::Part);
        if (header.run_counts[r] == 0 || header.run_counts[r] > kMostRuns || bytes > runs.size() - at)
            damaged("are of runs that cannot be");
        std::vector<RanksTable::Part>& part = table.parts.emplace_back(header.run_counts[r]);
        std::memcpy(part.data(), runs.data() + at, bytes);
        at += bytes;
        for (const RanksTable::Part& run : part) {
            (void)text_of(run);
            if (run.size == 0 || (&run != &part.back() && run.size % kPage != 0))
                damaged("are made of broken pages");
        }
    }
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
    std::vector<MappedFile> mapped;
    std::vector<std::string_view> texts;
    for (const std::filesystem::path& artefact : artefacts) {
        mapped.push_back(MappedFile::open(artefact));
        texts.push_back(mapped.back().text());
    }
    const std::vector<std::vector<Run>> runs = shared_runs(texts);

    RanksHeader header;
    header.ranks = static_cast<uint32_t>(artefacts.size());
    uint64_t end = kPage;
    const auto place = [&](uint64_t size) {
        const RanksTable::Part part{end, size};
        end = static_cast<uint64_t>(rounded_to_pages(static_cast<int64_t>(end + size)));
        return part;
    };
    size_t count = 0;
    for (size_t r = 0; r < runs.size(); ++r) {
        if (runs[r].size() > kMostRuns)
            throw Error(path.string(), "ranks",
                        fmt::format("have {} runs of weights in common", runs[r].size()));
        header.run_counts[r] = static_cast<uint32_t>(runs[r].size());
        count += runs[r].size();
    }
    header.account = place(account.size());
    header.runs = place(count * sizeof(RanksTable::Part));
    std::vector<RanksTable::Part> table;
    std::map<std::pair<size_t, uint64_t>, RanksTable::Part> places;  ///< of stored runs, by text and offset
    for (size_t r = 0; r < runs.size(); ++r)
        for (const Run& run : runs[r]) {
            if (run.text == r) places[{r, run.offset}] = place(run.size);
            const auto& [of, stored] = *std::prev(places.upper_bound({run.text, run.offset}));
            table.push_back({stored.offset + (run.offset - of.second), run.size});
        }
    const std::string_view table_text(reinterpret_cast<const char*>(table.data()),
                                      table.size() * sizeof(RanksTable::Part));
    header.checksum = checksum_of(header, account, table_text);

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
    write(header.runs.offset, table_text);
    for (const auto& [of, stored] : places)
        write(stored.offset, texts[of.first].substr(of.second, stored.size));
    file.commit();
    return static_cast<int64_t>(at);
}

}  // namespace tessera::runtime
