#include "run/jinja/text.h"

#include <algorithm>
#include <utility>

#include <utf8proc.h>

#include "support/error.h"

namespace tessera::jinja {
namespace {

bool continues(std::string_view bytes, size_t at) {
    return (static_cast<unsigned char>(bytes[at]) & 0xc0) == 0x80;
}

}  // namespace

Text::Text(std::string bytes, Origin origin) : bytes_(std::move(bytes)) {
    if (origin == Origin::kForeign && !bytes_.empty()) foreign_ = {{0, bytes_.size()}};
}

Origin Text::origin_at(size_t byte) const {
    const auto after = std::upper_bound(foreign_.begin(), foreign_.end(), byte,
                                        [](size_t at, const ByteRange& range) { return at < range.begin; });
    return after != foreign_.begin() && byte < std::prev(after)->end ? Origin::kForeign : Origin::kTemplate;
}

Text& Text::append(const Text& text) {
    const size_t shift = bytes_.size();
    // A text may be appended to itself.
    const size_t ranges = text.foreign_.size();
    for (size_t i = 0; i < ranges; ++i) {
        const ByteRange moved{text.foreign_[i].begin + shift, text.foreign_[i].end + shift};
        if (!foreign_.empty() && foreign_.back().end == moved.begin)
            foreign_.back().end = moved.end;
        else
            foreign_.push_back(moved);
    }
    bytes_ += text.bytes_;
    return *this;
}

Text& Text::append(std::string_view bytes, Origin origin) {
    if (bytes.empty()) return *this;
    if (origin == Origin::kForeign) {
        if (!foreign_.empty() && foreign_.back().end == bytes_.size())
            foreign_.back().end += bytes.size();
        else
            foreign_.push_back({bytes_.size(), bytes_.size() + bytes.size()});
    }
    bytes_ += bytes;
    return *this;
}

Text Text::slice(size_t begin, size_t end) const {
    TESSERA_CHECK(begin <= end && end <= size(), "{} to {} of {}", begin, end, size());
    Text part;
    part.bytes_ = bytes_.substr(begin, end - begin);
    const auto first = std::partition_point(foreign_.begin(), foreign_.end(),
                                            [&](const ByteRange& range) { return range.end <= begin; });
    for (auto range = first; range != foreign_.end() && range->begin < end; ++range)
        part.foreign_.push_back({std::max(range->begin, begin) - begin, std::min(range->end, end) - begin});
    return part;
}

std::vector<size_t> character_offsets(std::string_view bytes) {
    std::vector<size_t> offsets;
    offsets.reserve(bytes.size() + 1);
    for (size_t at = 0; at < bytes.size(); at += first_character(bytes.substr(at)).size)
        offsets.push_back(at);
    offsets.push_back(bytes.size());
    return offsets;
}

Character first_character(std::string_view bytes) {
    const auto lead = static_cast<unsigned char>(bytes.front());
    if (lead < 0x80) return {lead, 1};
    utf8proc_int32_t code_point = -1;
    const auto size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                         static_cast<utf8proc_ssize_t>(std::min<size_t>(bytes.size(), 4)), &code_point);
    if (size <= 0) return {};
    return {code_point, static_cast<size_t>(size)};
}

bool is_space(int c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

std::string_view trim_left(std::string_view bytes) {
    while (!bytes.empty()) {
        const Character first = first_character(bytes);
        if (!is_space(first.code_point)) break;
        bytes.remove_prefix(first.size);
    }
    return bytes;
}

std::string_view trim_right(std::string_view bytes) {
    while (!bytes.empty()) {
        size_t at = bytes.size() - 1;
        while (at > 0 && bytes.size() - at < 4 && continues(bytes, at)) --at;
        const Character last = first_character(bytes.substr(at));
        if (last.size != bytes.size() - at || !is_space(last.code_point)) break;
        bytes.remove_suffix(last.size);
    }
    return bytes;
}

}  // namespace tessera::jinja
