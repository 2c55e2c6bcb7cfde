#pragma once

#include <array>
#include <bit>
#include <cstdint>

/// The bytes that writer and reader of artefacts agree on.
#include "support/limits.h"

namespace tessera::runtime::artefact_format {

// Structures are written as they lie in memory.
static_assert(std::endian::native == std::endian::little, "artefacts are little-endian");

/// Begins with a byte that no text has and holds both forms of line end, so that a transfer as text shows.
inline constexpr std::array<unsigned char, 8> kMagic = {0x89, 'T', 'S', 'R', '\r', '\n', 0x1a, '\n'};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint64_t kConstantsAlignment = kPageBytes;
inline constexpr uint64_t kSectionAlignment = kLineBytes;
/// Four sections, the constants and a few files; more is damage.
inline constexpr uint32_t kMostSections = 64;

enum class SectionKind : uint32_t { kManifest, kCode, kPlan, kGraph, kTokenizer, kConstants };

struct Header {
    std::array<unsigned char, 8> magic = kMagic;
    uint32_t version = kVersion;
    uint32_t sections = 0;
    uint64_t file_size = 0;
    uint64_t checksum = 0;  ///< of the header, with zero in its place, and the table
    std::array<uint64_t, 4> reserved{};
};
static_assert(sizeof(Header) == 64);

struct Section {
    SectionKind kind = SectionKind::kManifest;
    uint32_t reserved = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t checksum = 0;
    std::array<char, 64> name{};  ///< of a tokenizer file; filled up with zeros, at least one
};
static_assert(sizeof(Section) == 96);

}  // namespace tessera::runtime::artefact_format
