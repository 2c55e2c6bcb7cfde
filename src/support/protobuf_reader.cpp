#include "support/protobuf_reader.h"

#include <bit>
#include <utility>

#include "support/error.h"

namespace tessera {
namespace {

constexpr int kLongestVarint = 10;  // 64 bits, 7 in each byte

uint64_t little_endian(std::string_view bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return value;
}

}  // namespace

void ProtobufReader::fail(std::string_view name, std::string problem, std::string advice) const {
    throw Error(fmt::format("{}@{}", file_, field_offset_), std::string(name), std::move(problem),
                std::move(advice));
}

std::string_view ProtobufReader::take(uint64_t size) {
    if (size > rest_.size())
        fail(field_ == 0 ? "" : fmt::format("field {}", field_),
             fmt::format("needs {} bytes, but {} are left: the file is cut off or damaged", size,
                         rest_.size()));
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    offset_ += size;
    return taken;
}

uint64_t ProtobufReader::take_fixed(size_t size) {
    return little_endian(take(size));
}

uint64_t ProtobufReader::take_varint() {
    uint64_t value = 0;
    for (int i = 0; i < kLongestVarint; ++i) {
        const auto byte = static_cast<uint8_t>(take(1).front());
        value |= uint64_t{byte & 0x7fu} << (7 * i);
        if ((byte & 0x80u) == 0) return value;
    }
    fail("", fmt::format("has a number of more than {} bytes: the file is damaged", kLongestVarint));
}

bool ProtobufReader::next() {
    if (rest_.empty()) return false;
    field_offset_ = offset_;
    field_ = 0;
    const uint64_t tag = take_varint();
    if (tag >> 3 == 0 || tag >> 3 >= uint64_t{1} << 29)
        fail("", fmt::format("has a field with the number {}: the file is damaged, or not of this format",
                             tag >> 3));
    field_ = static_cast<uint32_t>(tag >> 3);
    switch (tag & 7) {
        case 0:
            number_ = take_varint();
            break;
        case 1:
            number_ = take_fixed(8);
            break;
        case 2:
            bytes_ = take(take_varint());
            break;
        case 5:
            number_ = take_fixed(4);
            break;
        default:
            fail(fmt::format("field {}", field_),
                 fmt::format("has the wire type {}: the file is damaged, or not of this format", tag & 7));
    }
    type_ = static_cast<WireType>(tag & 7);
    return true;
}

void ProtobufReader::expect(WireType type, std::string_view name) const {
    if (type_ != type)
        fail(name, fmt::format("has the wire type {}, expected {}", static_cast<int>(type_),
                               static_cast<int>(type)));
}

bool ProtobufReader::boolean(std::string_view name) const {
    expect(WireType::kVarint, name);
    return number_ != 0;
}

int32_t ProtobufReader::int32(std::string_view name) const {
    expect(WireType::kVarint, name);
    // Negative numbers are written with the sign in 64 bits.
    const auto value = static_cast<int64_t>(number_);
    if (!std::in_range<int32_t>(value)) fail(name, fmt::format("is {}, expected 32 bits", value));
    return static_cast<int32_t>(value);
}

int64_t ProtobufReader::int64(std::string_view name) const {
    expect(WireType::kVarint, name);
    return static_cast<int64_t>(number_);
}

float ProtobufReader::float32(std::string_view name) const {
    expect(WireType::kFixed32, name);
    return std::bit_cast<float>(static_cast<uint32_t>(number_));
}

std::string_view ProtobufReader::bytes(std::string_view name) const {
    expect(WireType::kBytes, name);
    return bytes_;
}

ProtobufReader ProtobufReader::packed(std::string_view name, size_t element) const {
    ProtobufReader list = message(name);
    if (list.rest_.size() % element != 0)
        fail(name, fmt::format("has {} bytes, expected a multiple of {}", list.rest_.size(), element));
    return list;
}

ProtobufReader ProtobufReader::message(std::string_view name) const {
    return {bytes(name), file_, offset_ - bytes_.size()};
}

}  // namespace tessera
