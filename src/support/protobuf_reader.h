#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Reads the fields of one message of the protocol buffers in the order in which they lie. Nothing is copied;
/// every length is checked against the bytes that are left. Errors name the file with the offset, the field,
/// and what was found.
///
///     for (ProtobufReader message(bytes, file); message.next();)
///         if (message.field() == 2) score = message.float32("score");
///
/// Unread fields are skipped. Source: "Encoding", protobuf.dev/programming-guides/encoding; groups, which
/// have been out of use since version 2, are refused.
class ProtobufReader {
public:
    ProtobufReader(std::string_view bytes, std::string file) : ProtobufReader(bytes, std::move(file), 0) {}

    /// Goes to the next field; false at the end. @throws Error if it is damaged
    bool next();
    uint32_t field() const { return field_; }

    // The value of the field, called `name` in errors. @throws Error if it is of another type
    bool boolean(std::string_view name) const;
    int32_t int32(std::string_view name) const;  ///< also an enum
    int64_t int64(std::string_view name) const;
    float float32(std::string_view name) const;
    std::string_view bytes(std::string_view name) const;  ///< lives as long as the reader's bytes
    ProtobufReader message(std::string_view name) const;
    // One element of a repeated field, or a packed list of them: calls `add` for each.
    template <typename Add>
    void numbers(std::string_view name, Add&& add) const;  ///< of varints, as uint64_t
    template <typename Number, typename Add>
    void fixed(std::string_view name, Add&& add) const;  ///< of float or double

    /// Refuses the field.
    [[noreturn]] void fail(std::string_view name, std::string problem, std::string advice = {}) const;

private:
    enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

    ProtobufReader(std::string_view bytes, std::string file, size_t offset)
        : rest_(bytes), file_(std::move(file)), offset_(offset) {}
    uint64_t take_varint();
    uint64_t take_fixed(size_t size);
    std::string_view take(uint64_t size);
    void expect(WireType type, std::string_view name) const;
    /// The bytes of a packed list, and a reader at its first byte. @throws Error if they are no whole
    /// elements
    ProtobufReader packed(std::string_view name, size_t element) const;

    std::string_view rest_;
    std::string file_;
    size_t offset_;  // of `rest_`, in the file
    size_t field_offset_ = 0;
    uint32_t field_ = 0;
    WireType type_ = WireType::kVarint;
    uint64_t number_ = 0;     // of kVarint, and the bits of kFixed32 and kFixed64
    std::string_view bytes_;  // of kBytes
};

template <typename Add>
void ProtobufReader::numbers(std::string_view name, Add&& add) const {
    if (type_ == WireType::kVarint) return add(number_);
    for (ProtobufReader list = packed(name, 1); !list.rest_.empty();) add(list.take_varint());
}

template <typename Number, typename Add>
void ProtobufReader::fixed(std::string_view name, Add&& add) const {
    static_assert(sizeof(Number) == 4 || sizeof(Number) == 8);
    const auto number = [](uint64_t bits) {
        if constexpr (sizeof(Number) == 4)
            return std::bit_cast<Number>(static_cast<uint32_t>(bits));
        else
            return std::bit_cast<Number>(bits);
    };
    if (type_ == (sizeof(Number) == 4 ? WireType::kFixed32 : WireType::kFixed64)) return add(number(number_));
    for (ProtobufReader list = packed(name, sizeof(Number)); !list.rest_.empty();)
        add(number(list.take_fixed(sizeof(Number))));
}

}  // namespace tessera
