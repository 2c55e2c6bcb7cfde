#include <algorithm>
#include <array>
#include <cstring>

#include <xxhash.h>

#include "run/runtime/artefact.h"
#include "run/runtime/artefact_format.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

using namespace artefact_format;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

void write_zeros(AtomicFile& file, uint64_t count) {
    static constexpr std::array<std::byte, kConstantsAlignment> kZeros{};
    for (uint64_t part; count != 0; count -= part) {
        part = std::min<uint64_t>(count, kZeros.size());
        file.write(std::span(kZeros).first(part));
    }
}

/// The section is hashed while it passes: no constant is read twice or held here.
class HashingSink final : public ConstantSink {
public:
    HashingSink(AtomicFile& file, int64_t size) : file_(file), size_(size), state_(XXH3_createState()) {
        TESSERA_CHECK(state_ != nullptr);
        XXH3_64bits_reset(state_);
    }
    HashingSink(const HashingSink&) = delete;
    HashingSink& operator=(const HashingSink&) = delete;
    ~HashingSink() override { XXH3_freeState(state_); }

    void advance_to(int64_t offset) override {
        static constexpr std::array<std::byte, kConstantsAlignment> kZeros{};
        TESSERA_CHECK(offset >= position_, "offset {} after position {}", offset, position_);
        while (position_ < offset)
            write(std::span(kZeros).first(std::min(kZeros.size(), static_cast<size_t>(offset - position_))));
    }
    void write(std::span<const std::byte> bytes) override {
        TESSERA_CHECK(static_cast<uint64_t>(size_ - position_) >= bytes.size(), "{} bytes at {} of {}",
                      bytes.size(), position_, size_);
        XXH3_64bits_update(state_, bytes.data(), bytes.size());
        file_.write(bytes);
        position_ += static_cast<int64_t>(bytes.size());
    }
    int64_t position() const override { return position_; }

    uint64_t finish() {
        advance_to(size_);
        return XXH3_64bits_digest(state_);
    }

private:
    AtomicFile& file_;
    int64_t size_;
    int64_t position_ = 0;
    XXH3_state_t* state_;
};

class ArtefactWriter {
public:
    ArtefactWriter(const std::filesystem::path& path, uint32_t sections)
        : where_(path.string()), file_(path, AtomicFile::Order::kAny) {
        header_.sections = sections;
        write_zeros(file_, sizeof(Header) + sections * sizeof(Section));
    }

    void add(SectionKind kind, std::string_view contents, const std::string& name = {}) {
        Section section = begin(kind, kSectionAlignment);
        if (name.size() >= section.name.size() || name.find('/') != std::string::npos ||
            name.find('\0') != std::string::npos)
            throw Error(
                where_, name,
                "cannot be stored in an artefact: the name of a file of at most 63 bytes is expected");
        std::copy(name.begin(), name.end(), section.name.begin());
        file_.write(contents);
        end(section, XXH3_64bits(contents.data(), contents.size()));
    }

    void add_constants(int64_t bytes, const std::function<void(ConstantSink&)>& write_constants) {
        const Section section = begin(SectionKind::kConstants, kConstantsAlignment);
        HashingSink sink(file_, bytes);
        write_constants(sink);
        end(section, sink.finish());
    }

    int64_t commit() {
        TESSERA_CHECK(table_.size() == header_.sections);
        header_.file_size = file_.size();
        std::string head(sizeof(Header) + table_.size() * sizeof(Section), '\0');
        std::memcpy(head.data(), &header_, sizeof(Header));
        std::memcpy(head.data() + sizeof(Header), table_.data(), table_.size() * sizeof(Section));
        header_.checksum = XXH3_64bits(head.data(), head.size());
        std::memcpy(head.data(), &header_, sizeof(Header));
        file_.write_at(0, bytes_of(head));
        file_.commit();
        return static_cast<int64_t>(file_.size());
    }

private:
    Section begin(SectionKind kind, uint64_t alignment) {
        write_zeros(file_, (alignment - file_.size() % alignment) % alignment);
        Section section;
        section.kind = kind;
        section.offset = file_.size();
        return section;
    }
    void end(Section section, uint64_t checksum) {
        section.size = file_.size() - section.offset;
        section.checksum = checksum;
        table_.push_back(section);
    }

    std::string where_;
    AtomicFile file_;
    Header header_;
    std::vector<Section> table_;
};

}  // namespace

int64_t write_artefact(const std::filesystem::path& path, const ArtefactParts& parts,
                       const std::function<void(ConstantSink&)>& write_constants) {
    verify(parts.manifest, path.string());
    const size_t sections = 5 + parts.tokenizer.size();
    if (sections > kMostSections)
        throw Error(
            path.string(), "",
            fmt::format("would hold {} tokenizer files, more than an artefact can", parts.tokenizer.size()));
    ArtefactWriter writer(path, static_cast<uint32_t>(sections));
    writer.add(SectionKind::kManifest, print(parts.manifest));
    writer.add(SectionKind::kCode, parts.code);
    writer.add(SectionKind::kPlan, parts.plan);
    writer.add(SectionKind::kGraph, parts.graph);
    for (const NamedFile& file : parts.tokenizer) writer.add(SectionKind::kTokenizer, file.bytes, file.name);
    writer.add_constants(parts.manifest.constants_bytes, write_constants);
    return writer.commit();
}

}  // namespace tessera::runtime
