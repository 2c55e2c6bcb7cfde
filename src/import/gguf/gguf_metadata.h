#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "import/gguf/gguf_cursor.h"

namespace tessera::import {

/// Types of metadata values, with the numbers of the format (docs/gguf.md of the ggml project).
enum class GgufValueType : uint32_t {
    kU8 = 0,
    kI8 = 1,
    kU16 = 2,
    kI16 = 3,
    kU32 = 4,
    kI32 = 5,
    kF32 = 6,
    kBool = 7,
    kString = 8,
    kArray = 9,
    kU64 = 10,
    kI64 = 11,
    kF64 = 12,
};

std::string_view name(GgufValueType type);

/// An array as it lies in the file: `count` elements of `element`, already checked to lie inside the file.
/// Arrays of arrays are known by their length only.
struct GgufArray {
    GgufValueType element = GgufValueType::kU8;
    uint64_t count = 0;
    std::span<const std::byte> bytes;
};

struct GgufValue {
    GgufValueType type = GgufValueType::kU8;
    /// Integers are widened by their sign, floats to double.
    std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray> data;
};

template <typename T>
concept GgufElement = std::same_as<T, std::string_view> || std::same_as<T, float> || std::same_as<T, int32_t>;

/// The typed key-value pairs of a GGUF file. Views point into the mapped file.
/// Every `get_` is empty when the key is absent, and throws Error naming file, key, found and expected type
/// when the value has another type or does not fit. Integers of any width and sign are accepted where they
/// fit.
class GgufMetadata {
public:
    std::optional<std::string_view> get_string(std::string_view key) const;
    std::optional<uint32_t> get_u32(std::string_view key) const;
    /// An integer of any width; one beyond 64 signed bits becomes the largest.
    std::optional<int64_t> get_integer(std::string_view key) const;
    /// The same of one integer or an array of them, or of truth values; none when the key is absent.
    std::vector<int64_t> get_integers(std::string_view key) const;
    std::optional<float> get_f32(std::string_view key) const;  ///< F32 or F64
    std::optional<bool> get_bool(std::string_view key) const;
    /// Strings, floats (F32), or integers that fit in 32 bits.
    template <GgufElement T>
    std::optional<std::vector<T>> get_array(std::string_view key) const;

    bool contains(std::string_view key) const { return find(key) != nullptr; }
    /// Null when absent.
    const GgufValue* find(std::string_view key) const;
    /// In the order of the file.
    const std::vector<std::string_view>& keys() const { return keys_; }

    /// A GGUF file of the pairs whose keys begin with one of the prefixes, without tensors.
    std::string write_file(std::span<const std::string_view> prefixes) const;

    /// Reads `count` pairs at the cursor. `file` is named in errors.
    static GgufMetadata read(GgufCursor& cursor, uint64_t count, std::string file);

private:
    [[noreturn]] void wrong_type(std::string_view key, const GgufValue& found,
                                 std::string_view expected) const;

    std::string file_;
    std::vector<std::string_view> keys_;
    std::vector<std::span<const std::byte>> pairs_;  // as they lie in the file, parallel to keys_
    std::unordered_map<std::string_view, GgufValue> values_;
};

extern template std::optional<std::vector<std::string_view>> GgufMetadata::get_array(std::string_view) const;
extern template std::optional<std::vector<float>> GgufMetadata::get_array(std::string_view) const;
extern template std::optional<std::vector<int32_t>> GgufMetadata::get_array(std::string_view) const;

}  // namespace tessera::import
