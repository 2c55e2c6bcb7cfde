#include "run/grammar/character_ranges.h"

#include <algorithm>
#include <array>

namespace tessera::grammar {
namespace {

constexpr char32_t kFirstSurrogate = 0xd800, kLastSurrogate = 0xdfff;
/// The largest character of one, two, three and four bytes.
constexpr std::array<char32_t, 4> kLargestOfLength = {0x7f, 0x7ff, 0xffff, kLargestCodePoint};

std::string utf8(char32_t code_point) {
    std::string bytes;
    append_utf8(bytes, code_point);
    return bytes;
}

void add_sequence(char32_t first, char32_t last, std::vector<ByteSequence>& out) {
    const std::string low = utf8(first), high = utf8(last);
    ByteSequence sequence;
    for (size_t i = 0; i < low.size(); ++i)
        sequence.push_back({static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i])});
    out.push_back(std::move(sequence));
}

/// Cuts a range of characters of one length where the bytes behind the first differing one do not span all of
/// their values.
void split(char32_t first, char32_t last, size_t length, std::vector<ByteSequence>& out) {
    for (size_t tail = 1; tail < length; ++tail) {
        const char32_t mask = (char32_t{1} << (6 * tail)) - 1;
        if ((first & ~mask) == (last & ~mask)) break;
        if ((first & mask) != 0) {
            split(first, first | mask, length, out);
            return split((first | mask) + 1, last, length, out);
        }
        if ((last & mask) != mask) {
            split(first, (last & ~mask) - 1, length, out);
            return split(last & ~mask, last, length, out);
        }
    }
    add_sequence(first, last, out);
}

}  // namespace

std::vector<CodePointRange> normalized(const std::vector<CodePointRange>& ranges) {
    std::vector<CodePointRange> cut;
    for (const CodePointRange& range : ranges) {
        const auto add = [&](char32_t first, char32_t last) {
            if (first <= last) cut.push_back({first, last});
        };
        add(range.first, std::min<char32_t>(range.last, kFirstSurrogate - 1));
        add(std::max<char32_t>(range.first, kLastSurrogate + 1), std::min(range.last, kLargestCodePoint));
    }
    std::sort(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<CodePointRange> result;
    for (const CodePointRange& range : cut) {
        if (!result.empty() && range.first <= result.back().last + 1)
            result.back().last = std::max(result.back().last, range.last);
        else
            result.push_back(range);
    }
    return result;
}

std::vector<CodePointRange> complement(const std::vector<CodePointRange>& ranges) {
    std::vector<CodePointRange> result;
    char32_t next = 0;
    for (const CodePointRange& range : normalized(ranges)) {
        if (range.first > next) result.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= kLargestCodePoint) result.push_back({next, kLargestCodePoint});
    return normalized(result);
}

std::vector<ByteSequence> utf8_sequences(const std::vector<CodePointRange>& ranges) {
    std::vector<ByteSequence> result;
    for (const CodePointRange& range : ranges) {
        char32_t smallest = 0;
        for (size_t length = 1; length <= kLargestOfLength.size(); ++length) {
            const char32_t largest = kLargestOfLength[length - 1];
            const char32_t first = std::max(range.first, smallest), last = std::min(range.last, largest);
            if (first <= last) split(first, last, length, result);
            smallest = largest + 1;
        }
    }
    return result;
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (code_point <= kLargestOfLength[0]) return put(code_point);
    const size_t length = code_point <= kLargestOfLength[1] ? 2 : code_point <= kLargestOfLength[2] ? 3 : 4;
    constexpr std::array<char32_t, 5> kLead = {0, 0, 0xc0, 0xe0, 0xf0};
    put(kLead[length] | (code_point >> (6 * (length - 1))));
    for (size_t tail = length - 1; tail-- > 0;) put(0x80 | ((code_point >> (6 * tail)) & 0x3f));
}

std::u32string characters_of(std::string_view text) {
    std::u32string result;
    for (size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        char32_t value = length == 1 ? lead : lead & (0x7fU >> length);
        for (const char byte : text.substr(at + 1, length - 1))
            value = (value << 6) | (static_cast<unsigned char>(byte) & 0x3f);
        result.push_back(value);
        at += length;
    }
    return result;
}

}  // namespace tessera::grammar
