#include "run/llm/character_map.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

// The bytes are the size of a trie in bytes (32 bits, little endian), the trie, and the replacements, each
// with a zero byte behind. The trie is an array of 32-bit units in the form of the Darts-clone library:
//
//     bit 31     a value, in the other bits: where the replacement begins
//     bit 8      the texts to here are a rule: the unit at the offset is its value
//     bits 0-7   the byte that leads here
//     bits 10-30 the offset of the children, times 256 if bit 9 is set
//
// The child by byte b of a unit at position p is at p ^ offset ^ b, if that unit has the byte b. Nothing says
// that a position is inside the array, so each is checked when it is used. Source: Yata, "Darts-clone"; Aoe,
// "An Efficient Digital Search Algorithm by Using a Double-Array Structure" (1989).

namespace tessera::llm {
namespace {

// The longest of the published maps has 33 bytes: NFKC of U+FDFA.
constexpr size_t kLongestReplacement = 64;

uint32_t little_endian(std::string_view bytes, size_t at) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

bool has_value(uint32_t unit) {
    return (unit >> 8 & 1) != 0;
}
uint32_t offset_of(uint32_t unit) {
    return unit >> 10 << ((unit & 1U << 9) >> 6);
}
/// A unit with a value has bit 31 here, so that it is no byte.
uint32_t byte_of(uint32_t unit) {
    return unit & (1U << 31 | 0xff);
}

}  // namespace

CharacterMap CharacterMap::parse(std::string_view bytes, const std::string& where,
                                 const std::string& entity) {
    const auto fail = [&](std::string problem) -> void { throw Error(where, entity, std::move(problem)); };
    if (bytes.size() < 4)
        fail(fmt::format("has {} bytes, expected 4 with the size of its trie", bytes.size()));
    const size_t size = little_endian(bytes, 0);
    bytes.remove_prefix(4);
    if (size % 4 != 0 || size == 0 || size > bytes.size())
        fail(fmt::format("has a trie of {} bytes, with {} bytes left", size, bytes.size()));
    auto table = std::make_shared<Table>();
    for (size_t at = 0; at < size; at += 4) table->units.push_back(little_endian(bytes, at));
    table->replacements = std::string(bytes.substr(size)) + '\0';
    size_t begin = 0;
    for (size_t end = table->replacements.find('\0'); end != std::string::npos;
         end = table->replacements.find('\0', begin)) {
        if (end - begin > kLongestReplacement)
            fail(fmt::format("has a replacement of {} bytes, expected at most {}", end - begin,
                             kLongestReplacement));
        begin = end + 1;
    }
    CharacterMap map;
    map.table_ = std::move(table);
    return map;
}

template <typename Visit>
void CharacterMap::for_each_prefix(std::string_view text, Visit visit) const {
    const std::vector<uint32_t>& units = table_->units;
    size_t at = offset_of(units[0]);
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        at ^= byte;
        if (byte == 0 || at >= units.size() || byte_of(units[at]) != byte) return;
        const uint32_t unit = units[at];
        at ^= offset_of(unit);
        if (!has_value(unit) || at >= units.size()) continue;
        const size_t begin = units[at] & ~(1U << 31);
        if (begin >= table_->replacements.size()) continue;
        const size_t end = table_->replacements.find('\0', begin);
        if (!visit(Match{i + 1, std::string_view(table_->replacements).substr(begin, end - begin)})) return;
    }
}

std::optional<CharacterMap::Match> CharacterMap::shortest(std::string_view text) const {
    std::optional<Match> found;
    for_each_prefix(text, [&](const Match& match) {
        found = match;
        return false;
    });
    return found;
}

std::optional<CharacterMap::Match> CharacterMap::longest(std::string_view text) const {
    std::optional<Match> found;
    for_each_prefix(text, [&](const Match& match) {
        found = match;
        return true;
    });
    return found;
}

}  // namespace tessera::llm
