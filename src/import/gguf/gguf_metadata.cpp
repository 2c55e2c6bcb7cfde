#include "import/gguf/gguf_metadata.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "support/error.h"

namespace tessera::import {
namespace {

// A key longer than this is damage: the specification allows 2^16 - 1 bytes.
constexpr size_t kLongestKey = 65535;
// No writer nests arrays; two levels are tolerated, deeper ones could only exhaust the stack.
constexpr int kDeepestArray = 2;
// The shortest pair: an empty key (8 bytes of length), a type (4), a value (1).
constexpr uint64_t kShortestPair = 13;
// Files have some fifty. A pair takes ten times the memory of its shortest text.
constexpr uint64_t kMostPairs = 1 << 16;

struct ScalarInfo {
    std::string_view name;
    uint64_t bytes;  ///< smallest size in the file; exact for scalars
};

// Indexed by the number of the type.
constexpr std::array kValueTypes = {
    ScalarInfo{"u8", 1},     ScalarInfo{"i8", 1},     ScalarInfo{"u16", 2}, ScalarInfo{"i16", 2},
    ScalarInfo{"u32", 4},    ScalarInfo{"i32", 4},    ScalarInfo{"f32", 4}, ScalarInfo{"bool", 1},
    ScalarInfo{"string", 8}, ScalarInfo{"array", 12}, ScalarInfo{"u64", 8}, ScalarInfo{"i64", 8},
    ScalarInfo{"f64", 8},
};

const ScalarInfo& facts(GgufValueType type) {
    return kValueTypes[static_cast<size_t>(type)];
}

GgufValueType read_type(GgufCursor& cursor, std::string_view key) {
    const auto number = cursor.read<uint32_t>(key);
    if (number >= kValueTypes.size())
        cursor.fail(
            key, fmt::format("has the value type {}, but types end at {}", number, kValueTypes.size() - 1));
    return static_cast<GgufValueType>(number);
}

GgufArray read_array(GgufCursor& cursor, std::string_view key, int depth) {
    GgufArray array;
    array.element = read_type(cursor, key);
    array.count = cursor.read<uint64_t>(key);
    const uint64_t least = facts(array.element).bytes;
    cursor.check_count(array.count, least, key);
    const size_t begin = cursor.offset();
    switch (array.element) {
        case GgufValueType::kString:
            for (uint64_t i = 0; i < array.count; ++i) cursor.read_string(key);
            break;
        case GgufValueType::kArray:
            if (depth == kDeepestArray)
                cursor.fail(key, fmt::format("nests arrays more than {} deep", kDeepestArray));
            for (uint64_t i = 0; i < array.count; ++i) read_array(cursor, key, depth + 1);
            break;
        default:
            cursor.take(array.count * least, key);
    }
    array.bytes = cursor.since(begin);
    return array;
}

bool read_bool(GgufCursor& cursor, std::string_view key) {
    const auto byte = cursor.read<uint8_t>(key);
    if (byte > 1) cursor.fail(key, fmt::format("is a bool with the value {}, expected 0 or 1", byte));
    return byte == 1;
}

GgufValue read_value(GgufCursor& cursor, std::string_view key) {
    const GgufValueType type = read_type(cursor, key);
    const auto value = [&](auto data) { return GgufValue{type, data}; };
    switch (type) {
        case GgufValueType::kU8:
            return value(uint64_t{cursor.read<uint8_t>(key)});
        case GgufValueType::kI8:
            return value(int64_t{cursor.read<int8_t>(key)});
        case GgufValueType::kU16:
            return value(uint64_t{cursor.read<uint16_t>(key)});
        case GgufValueType::kI16:
            return value(int64_t{cursor.read<int16_t>(key)});
        case GgufValueType::kU32:
            return value(uint64_t{cursor.read<uint32_t>(key)});
        case GgufValueType::kI32:
            return value(int64_t{cursor.read<int32_t>(key)});
        case GgufValueType::kF32:
            return value(double{cursor.read<float>(key)});
        case GgufValueType::kBool:
            return value(read_bool(cursor, key));
        case GgufValueType::kString:
            return value(cursor.read_string(key));
        case GgufValueType::kArray:
            return value(read_array(cursor, key, 1));
        case GgufValueType::kU64:
            return value(cursor.read<uint64_t>(key));
        case GgufValueType::kI64:
            return value(cursor.read<int64_t>(key));
        case GgufValueType::kF64:
            return value(cursor.read<double>(key));
    }
    cursor.fail(key, "has an unknown value type");
}

/// The integer if it fits in T.
template <std::integral T>
std::optional<T> narrow(const GgufValue& value) {
    if (const auto* u = std::get_if<uint64_t>(&value.data); u != nullptr && std::in_range<T>(*u))
        return static_cast<T>(*u);
    if (const auto* i = std::get_if<int64_t>(&value.data); i != nullptr && std::in_range<T>(*i))
        return static_cast<T>(*i);
    return std::nullopt;
}

bool is_integer(GgufValueType type) {
    return facts(type).name.front() == 'u' || facts(type).name.front() == 'i';
}

/// One integer of an array, widened; one that does not fit in 64 signed bits becomes the largest value and is
/// refused.
int64_t read_integer(GgufCursor& cursor, GgufValueType type, std::string_view key) {
    switch (type) {
        case GgufValueType::kU8:
            return cursor.read<uint8_t>(key);
        case GgufValueType::kI8:
            return cursor.read<int8_t>(key);
        case GgufValueType::kU16:
            return cursor.read<uint16_t>(key);
        case GgufValueType::kI16:
            return cursor.read<int16_t>(key);
        case GgufValueType::kU32:
            return cursor.read<uint32_t>(key);
        case GgufValueType::kI32:
            return cursor.read<int32_t>(key);
        case GgufValueType::kI64:
            return cursor.read<int64_t>(key);
        default:
            return static_cast<int64_t>(
                std::min<uint64_t>(cursor.read<uint64_t>(key), std::numeric_limits<int64_t>::max()));
    }
}

template <GgufElement T>
bool holds(GgufValueType element) {
    if constexpr (std::same_as<T, std::string_view>) return element == GgufValueType::kString;
    if constexpr (std::same_as<T, float>) return element == GgufValueType::kF32;
    if constexpr (std::same_as<T, int32_t>) return is_integer(element);
}

template <GgufElement T>
constexpr std::string_view expected_array() {
    if constexpr (std::same_as<T, std::string_view>) return "an array of strings";
    if constexpr (std::same_as<T, float>) return "an array of f32";
    if constexpr (std::same_as<T, int32_t>) return "an array of integers";
}

}  // namespace

std::string_view name(GgufValueType type) {
    return facts(type).name;
}

GgufMetadata GgufMetadata::read(GgufCursor& cursor, uint64_t count, std::string file) {
    cursor.check_count(count, kShortestPair, "metadata");
    if (count > kMostPairs)
        cursor.fail("metadata", fmt::format("has {} pairs, expected at most {}", count, kMostPairs));
    GgufMetadata result;
    result.file_ = std::move(file);
    for (uint64_t i = 0; i < count; ++i) {
        const size_t begin = cursor.offset();
        const std::string_view key = cursor.read_string(fmt::format("key {} of the metadata", i));
        if (key.size() > kLongestKey)
            cursor.fail("metadata", fmt::format("key {} has {} bytes, at most {} are allowed", i, key.size(),
                                                kLongestKey));
        if (!result.values_.emplace(key, read_value(cursor, key)).second)
            cursor.fail(key, "occurs twice in the metadata");
        result.keys_.push_back(key);
        result.pairs_.push_back(cursor.since(begin));
    }
    return result;
}

std::string GgufMetadata::write_file(std::span<const std::string_view> prefixes) const {
    const auto put = [](std::string& out, auto number) {
        out.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    std::string pairs;
    uint64_t count = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
        const auto begins = [&](std::string_view prefix) { return keys_[i].starts_with(prefix); };
        if (std::ranges::none_of(prefixes, begins)) continue;
        pairs.append(reinterpret_cast<const char*>(pairs_[i].data()), pairs_[i].size());
        ++count;
    }
    std::string file = "GGUF";
    put(file, uint32_t{3});  // version; pairs are the same in version 2
    put(file, uint64_t{0});  // tensors
    put(file, count);
    return file + pairs;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
}

void GgufMetadata::wrong_type(std::string_view key, const GgufValue& found, std::string_view expected) const {
    std::string type(name(found.type));
    if (const auto* array = std::get_if<GgufArray>(&found.data))
        type += fmt::format(" of {}", name(array->element));
    if (const auto* u = std::get_if<uint64_t>(&found.data)) type += fmt::format(" {}", *u);
    if (const auto* i = std::get_if<int64_t>(&found.data)) type += fmt::format(" {}", *i);
    throw Error(file_, std::string(key), fmt::format("is {}, expected {}", type, expected));
}

std::optional<std::string_view> GgufMetadata::get_string(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* text = std::get_if<std::string_view>(&value->data)) return *text;
    wrong_type(key, *value, "a string");
}

std::optional<uint32_t> GgufMetadata::get_u32(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto number = narrow<uint32_t>(*value)) return number;
    wrong_type(key, *value, "an integer of 32 bits, not negative");
}

std::optional<int64_t> GgufMetadata::get_integer(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* i = std::get_if<int64_t>(&value->data)) return *i;
    if (const auto* u = std::get_if<uint64_t>(&value->data))
        return static_cast<int64_t>(std::min<uint64_t>(*u, std::numeric_limits<int64_t>::max()));
    wrong_type(key, *value, "an integer");
}

std::vector<int64_t> GgufMetadata::get_integers(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return {};
    const auto* array = std::get_if<GgufArray>(&value->data);
    if (array == nullptr) return {get_integer(key).value()};
    // Truth values are bytes.
    const bool is_truth = array->element == GgufValueType::kBool;
    if (!is_integer(array->element) && !is_truth) wrong_type(key, *value, expected_array<int32_t>());
    const GgufValueType element = is_truth ? GgufValueType::kU8 : array->element;
    std::vector<int64_t> result;
    result.reserve(array->count);
    GgufCursor cursor(array->bytes, file_);
    for (uint64_t i = 0; i < array->count; ++i) result.push_back(read_integer(cursor, element, key));
    return result;
}

std::optional<float> GgufMetadata::get_f32(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* number = std::get_if<double>(&value->data)) return static_cast<float>(*number);
    wrong_type(key, *value, "a float");
}

std::optional<bool> GgufMetadata::get_bool(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* flag = std::get_if<bool>(&value->data)) return *flag;
    wrong_type(key, *value, "a bool");
}

template <GgufElement T>
std::optional<std::vector<T>> GgufMetadata::get_array(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    const auto* array = std::get_if<GgufArray>(&value->data);
    if (array == nullptr || !holds<T>(array->element)) wrong_type(key, *value, expected_array<T>());

    std::vector<T> result;
    result.reserve(array->count);
    GgufCursor cursor(array->bytes, file_);
    for (uint64_t i = 0; i < array->count; ++i) {
        if constexpr (std::same_as<T, std::string_view>) {
            result.push_back(cursor.read_string(key));
        } else if constexpr (std::same_as<T, float>) {
            result.push_back(cursor.read<float>(key));
        } else {
            const int64_t element = read_integer(cursor, array->element, key);
            if (!std::in_range<int32_t>(element))
                throw Error(file_, std::string(key),
                            fmt::format("element {} is {}, expected 32 bits", i, element));
            result.push_back(static_cast<int32_t>(element));
        }
    }
    return result;
}

template std::optional<std::vector<std::string_view>> GgufMetadata::get_array(std::string_view) const;
template std::optional<std::vector<float>> GgufMetadata::get_array(std::string_view) const;
template std::optional<std::vector<int32_t>> GgufMetadata::get_array(std::string_view) const;

}  // namespace tessera::import
