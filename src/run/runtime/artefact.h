#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/runtime/communicator.h"
#include "run/runtime/manifest.h"
#include "support/mapped_file.h"

/// The artefact: one file that holds a compiled model, with everything that is needed to run it
/// (docs/artefact.md).
///
///     header          64 bytes: magic, format version, number of sections, size of the file, checksum
///     section table   96 bytes each: kind, name, offset, size, checksum
///     manifest        JSON (run/runtime/manifest.h)
///     code            shared object
///     plan, graph     texts, for people and for `inspect`
///     tokenizer files, with their names
///     constants       aligned to 4096, so that the mapping is aligned as the plan assumes
///
/// Little-endian, in this order, zeros between; checksums are XXH3 of 64 bits, the header's spans the header
/// and the table. The same contents give the same bytes. An artefact holds native code: it is as trusted as a
/// program, and the checks find damage, not malice.
namespace tessera::runtime {

/// A file of the model's tokenizer, as it lay beside the checkpoint.
struct NamedFile {
    std::string name;  ///< without folders, at most 63 bytes
    std::string bytes;
    bool operator==(const NamedFile&) const = default;
};

/// Everything in an artefact but the constants.
struct ArtefactParts {
    Manifest manifest;
    std::string code;   ///< shared object
    std::string plan;   ///< text
    std::string graph;  ///< text
    std::vector<NamedFile> tokenizer;
};

/// Takes the section of constants from front to back.
class ConstantSink {
public:
    virtual ~ConstantSink() = default;
    /// Writes zeros up to `offset`, which is that of the next constant. @pre offset >= position()
    virtual void advance_to(int64_t offset) = 0;
    /// Writes the next bytes; a constant may come in parts. @pre the section is not exceeded
    virtual void write(std::span<const std::byte> bytes) = 0;
    virtual int64_t position() const = 0;
};

/// Writes `path` whole or not at all, and gives its size in bytes. `write_constants` is called once; bytes
/// that it does not write are zero.
/// @throws Error if the file cannot be written, and anything that `write_constants` throws.
int64_t write_artefact(const std::filesystem::path& path, const ArtefactParts& parts,
                       const std::function<void(ConstantSink&)>& write_constants);

/// An artefact, mapped. Views into it live as long as it does.
class Artefact {
public:
    /// Checks everything but the weights. For a file of several ranks (run/runtime/ranks_file.h) it is the
    /// part of the first rank of this process, and holds those of the others (`parts`).
    /// @param processes that compute together, each with as many ranks; null: this process has all
    /// @throws Error: not an artefact, another format version, truncated, damaged; the processes do not
    /// divide the ranks.
    static Artefact open(const std::filesystem::path& path,
                         std::shared_ptr<Communicator> processes = nullptr);

    /// Reads all weights, of the other parts too. @throws Error if they are damaged.
    void verify_weights() const;
    /// @throws Error if the code needs more than this machine has. `architecture`: as in the manifest;
    /// `features`: those of the CPU (machine/probe.h).
    void check_host(std::string_view architecture, const std::set<std::string>& features) const;

    const Manifest& manifest() const { return manifest_; }
    std::string_view code() const { return code_; }
    std::string_view plan() const { return plan_; }
    std::string_view graph() const { return graph_; }
    /// Aligned to 4096.
    std::span<const std::byte> constants() const { return constants_; }
    /// Reads the constants of this part, in the calling thread.
    void fetch_constants() const { file_.fetch(constants_); }
    const std::vector<NamedFile>& tokenizer() const { return tokenizer_; }
    const std::string& where() const { return where_; }
    int64_t ranks_of_file() const { return ranks_of_file_; }  ///< 1: the artefact is all of the file
    /// The number of ranks of this process: this artefact is the part of the first one.
    size_t parts() const { return 1 + others_.size(); }
    const Artefact& part(size_t rank) const { return rank == 0 ? *this : others_[rank - 1]; }
    /// The bytes that sharing saves: those that parts of this process have in common, for each further part.
    int64_t shared_bytes() const { return shared_bytes_; }
    /// The processes that compute its steps together; null: this one alone.
    Communicator* processes() const { return processes_.get(); }

private:
    Artefact() = default;
    static Artefact read(MappedFile mapped, const std::string& where);

    MappedFile file_;
    std::string where_;
    int64_t ranks_of_file_ = 1;
    std::shared_ptr<Communicator> processes_;
    std::vector<Artefact> others_;
    int64_t shared_bytes_ = 0;
    Manifest manifest_;
    std::string_view code_, plan_, graph_;
    std::span<const std::byte> constants_;
    uint64_t constants_checksum_ = 0;
    std::vector<NamedFile> tokenizer_;
};

/// True if the file begins as an artefact does. @throws Error if it cannot be read.
bool is_artefact(const std::filesystem::path& path);

}  // namespace tessera::runtime
