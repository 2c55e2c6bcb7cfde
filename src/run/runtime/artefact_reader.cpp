#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "machine/cpu_features.h"
#include "run/runtime/artefact.h"
#include "run/runtime/artefact_format.h"
#include "run/runtime/ranks_file.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

using namespace artefact_format;

constexpr std::string_view kCompileAgain = "compile the model again";

std::string_view name_of(SectionKind kind) {
    switch (kind) {
        case SectionKind::kManifest:
            return "manifest";
        case SectionKind::kCode:
            return "code";
        case SectionKind::kPlan:
            return "plan";
        case SectionKind::kGraph:
            return "graph";
        case SectionKind::kTokenizer:
            return "tokenizer";
        case SectionKind::kConstants:
            return "constants";
    }
    return "unknown";
}

/// Reads the table of a mapped file. The checks with the most helpful messages come first: format, version,
/// completeness, damage.
class TableReader {
public:
    TableReader(std::string_view file, const std::string& where) : file_(file), where_(where) {}

    std::vector<Section> read() {
        if (file_.size() < kMagic.size() || std::memcmp(file_.data(), kMagic.data(), kMagic.size()) != 0)
            throw Error(where_, "", "is not a Tessera artefact",
                        "`tessera compile MODEL -o OUT.tsr` makes one");
        if (file_.size() < sizeof(Header)) damaged("", "is truncated within its header");
        std::memcpy(&header_, file_.data(), sizeof(Header));
        if (header_.version != kVersion)
            throw Error(
                where_, "",
                fmt::format("has format version {}, this Tessera reads {}", header_.version, kVersion),
                "compile the model again with this version");
        if (header_.file_size != file_.size())
            damaged("",
                    fmt::format("has {} bytes, its header says {}: it is {}", file_.size(), header_.file_size,
                                file_.size() < header_.file_size ? "truncated" : "damaged"));
        check_table();
        check_sections();
        return std::move(table_);
    }

private:
    [[noreturn]] void damaged(std::string_view entity, const std::string& problem) const {
        throw Error(where_, std::string(entity), problem, std::string(kCompileAgain));
    }

    void check_table() {
        const size_t table_bytes = size_t{header_.sections} * sizeof(Section);
        if (header_.sections > kMostSections || table_bytes > file_.size() - sizeof(Header))
            damaged("header", fmt::format("announces {} sections, which cannot be", header_.sections));
        std::string head(file_.substr(0, sizeof(Header) + table_bytes));
        Header unsigned_header = header_;
        unsigned_header.checksum = 0;
        std::memcpy(head.data(), &unsigned_header, sizeof(Header));
        if (XXH3_64bits(head.data(), head.size()) != header_.checksum)
            damaged("header", "is damaged: its checksum does not fit");
        table_.resize(header_.sections);
        if (table_bytes != 0) std::memcpy(table_.data(), file_.data() + sizeof(Header), table_bytes);
        end_ = head.size();
    }

    void check_sections() {
        for (const Section& section : table_) {
            const std::string_view name = name_of(section.kind);
            const uint64_t alignment =
                section.kind == SectionKind::kConstants ? kConstantsAlignment : kSectionAlignment;
            const uint64_t start = (end_ + alignment - 1) / alignment * alignment;
            if (section.offset != start || start > file_.size() || section.size > file_.size() - start)
                damaged(name, "does not lie where it must");
            const std::string_view gap = file_.substr(end_, start - end_);
            if (gap.find_first_not_of('\0') != std::string_view::npos)
                damaged(name, "has bytes before it that belong to nothing");
            if (section.name.back() != '\0') damaged(name, "has a name without an end");
            end_ = start + section.size;
        }
        if (end_ != file_.size()) damaged("", "has bytes that belong to no section");
    }

    std::string_view file_;
    const std::string& where_;
    Header header_;
    std::vector<Section> table_;
    uint64_t end_ = 0;
};

/// The total size of the runs, less the size of the part of the file in which they lie.
int64_t bytes_in_common(std::span<const std::vector<RanksTable::Part>> parts) {
    std::vector<RanksTable::Part> runs;
    for (const auto& part : parts) runs.insert(runs.end(), part.begin(), part.end());
    std::ranges::sort(runs, {}, &RanksTable::Part::offset);
    uint64_t end = 0, common = 0;
    for (const RanksTable::Part& run : runs) {
        if (run.offset < end) common += std::min(end, run.offset + run.size) - run.offset;
        end = std::max(end, run.offset + run.size);
    }
    return static_cast<int64_t>(common);
}

/// True if the steps of two ranks have the same arguments, and take the same specialisations.
bool are_steps_alike(const Manifest& a, const Manifest& b) {
    const auto have_bounds_alike = [](const Manifest::Specialisation& x, const Manifest::Specialisation& y) {
        return x.bounds == y.bounds;
    };
    return a.workers == b.workers && a.symbols == b.symbols && a.inputs == b.inputs &&
           a.outputs == b.outputs && a.states.size() == b.states.size() &&
           std::ranges::equal(a.specialisations, b.specialisations, have_bounds_alike);
}

}  // namespace

Artefact Artefact::open(const std::filesystem::path& path, std::shared_ptr<Communicator> processes) {
    MappedFile mapped = MappedFile::open(path);
    const int64_t count = processes ? processes->ranks() : 1;
    if (!is_ranks_text(mapped.text())) {
        if (count > 1)
            throw Error(path.string(), "", fmt::format("is for one process, and there are {}", count),
                        "compile the model with --ranks, or run it without mpirun");
        return read(std::move(mapped), path.string());
    }
    const RanksTable table = read_ranks_table(mapped.text(), path.string());
    const int64_t ranks = std::ssize(table.parts);
    if (ranks % count != 0)
        throw Error(path.string(), "",
                    fmt::format("is for {} ranks, which {} processes cannot share", ranks, count),
                    fmt::format("start 1 or {}, or another number that divides the ranks", ranks));
    const int64_t first = processes ? processes->rank() * (ranks / count) : 0;
    const auto part = [&](int64_t rank) {
        return read(MappedFile::open(path, table.parts[static_cast<size_t>(rank)]),
                    fmt::format("{} (rank {})", path.string(), rank));
    };
    Artefact result = part(first);
    for (int64_t r = first + 1; r < first + ranks / count; ++r) {
        result.others_.push_back(part(r));
        if (!are_steps_alike(result.manifest_, result.others_.back().manifest_))
            throw Error(path.string(), "ranks", fmt::format("{} and {} have different steps", first, r),
                        std::string(kCompileAgain));
    }
    result.shared_bytes_ =
        bytes_in_common(std::span(table.parts).subspan(static_cast<size_t>(first), result.parts()));
    result.ranks_of_file_ = ranks;
    result.processes_ = std::move(processes);
    return result;
}

Artefact Artefact::read(MappedFile mapped, const std::string& where) {
    Artefact result;
    result.file_ = std::move(mapped);
    result.where_ = where;
    const std::string_view file = result.file_.text();
    std::string_view manifest;
    std::array<int, 6> count{};
    for (const Section& section : TableReader(file, result.where_).read()) {
        const std::string_view contents = file.substr(section.offset, section.size);
        const std::string name(section.name.data());
        const bool is_weights = section.kind == SectionKind::kConstants;
        if (!is_weights && XXH3_64bits(contents.data(), contents.size()) != section.checksum)
            throw Error(result.where_, name.empty() ? std::string(name_of(section.kind)) : name,
                        "is damaged: its checksum does not fit", std::string(kCompileAgain));
        if (static_cast<size_t>(section.kind) < count.size()) ++count[static_cast<size_t>(section.kind)];
        switch (section.kind) {
            case SectionKind::kManifest:
                manifest = contents;
                break;
            case SectionKind::kCode:
                result.code_ = contents;
                break;
            case SectionKind::kPlan:
                result.plan_ = contents;
                break;
            case SectionKind::kGraph:
                result.graph_ = contents;
                break;
            case SectionKind::kTokenizer:
                result.tokenizer_.push_back({name, std::string(contents)});
                break;
            case SectionKind::kConstants:
                result.constants_ = result.file_.bytes().subspan(section.offset, section.size);
                result.constants_checksum_ = section.checksum;
                break;
            default:
                throw Error(
                    result.where_, "",
                    fmt::format("has a section of unknown kind {}", static_cast<uint32_t>(section.kind)),
                    std::string(kCompileAgain));
        }
    }
    for (const SectionKind kind : {SectionKind::kManifest, SectionKind::kCode, SectionKind::kPlan,
                                   SectionKind::kGraph, SectionKind::kConstants})
        if (count[static_cast<size_t>(kind)] != 1)
            throw Error(result.where_, std::string(name_of(kind)),
                        fmt::format("occurs {} times, expected once", count[static_cast<size_t>(kind)]),
                        std::string(kCompileAgain));
    result.manifest_ = parse_manifest(manifest, result.where_);
    if (static_cast<uint64_t>(result.manifest_.constants_bytes) != result.constants_.size())
        throw Error(result.where_, "constants",
                    fmt::format("has {} bytes, the manifest says {}", result.constants_.size(),
                                result.manifest_.constants_bytes),
                    std::string(kCompileAgain));
    return result;
}

void Artefact::verify_weights() const {
    if (XXH3_64bits(constants_.data(), constants_.size()) != constants_checksum_)
        throw Error(where_, "constants", "are damaged: their checksum does not fit",
                    std::string(kCompileAgain));
    for (const Artefact& other : others_) other.verify_weights();
}

void Artefact::check_host(std::string_view architecture, const std::set<std::string>& features) const {
    std::string advice = fmt::format("`tessera retarget {} -o HERE.tsr` makes it fit this machine", where_);
    if (manifest_.architecture != architecture)
        throw Error(
            where_, "",
            fmt::format("was made for {} machines, this one is {}", manifest_.architecture, architecture),
            advice);
    std::vector<std::string> flags;
    for (const std::string& set : manifest_.instruction_sets) flags.push_back("-m" + set);
    const machine::Isa isa = architecture == "aarch64" ? machine::Isa::kAArch64 : machine::Isa::kX86_64;
    std::vector<std::string> missing = machine::missing_features(isa, flags, features);
    for (std::string& flag : missing) flag.erase(0, 2);
    if (std::any_of(missing.begin(), missing.end(), [](const auto& set) { return set.starts_with("amx"); }))
        advice += "; a CPU with AMX needs a system that gives its tiles to processes (Linux 5.16 or newer)";
    if (!missing.empty())
        throw Error(where_, "",
                    fmt::format("was made for another machine (`{}`): this one lacks {}", manifest_.machine,
                                fmt::join(missing, ", ")),
                    advice);
}

bool is_artefact(const std::filesystem::path& path) {
    const MappedFile file = MappedFile::open(path);
    if (is_ranks_text(file.text())) return true;
    return file.size() >= kMagic.size() && std::memcmp(file.text().data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace tessera::runtime
