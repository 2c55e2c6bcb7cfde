#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// Writes GGUF files for tests, byte by byte as the specification says, without any code of the reader.
class GgufBuilder {
public:
    GgufBuilder& string(std::string_view key, std::string_view value) {
        pair(key, 8);
        text(pairs_, value);
        return *this;
    }
    GgufBuilder& u32(std::string_view key, uint32_t value) { return scalar(key, 4, value); }
    GgufBuilder& f32(std::string_view key, float value) { return scalar(key, 6, value); }
    GgufBuilder& boolean(std::string_view key, bool value) {
        return scalar(key, 7, static_cast<uint8_t>(value));
    }

    /// A value of any type by its number, its bytes as they lie in memory.
    template <typename T>
    GgufBuilder& scalar(std::string_view key, uint32_t type, T value) {
        pair(key, type);
        put(pairs_, value);
        return *this;
    }
    GgufBuilder& strings(std::string_view key, const std::vector<std::string>& values) {
        array(key, 8, values.size());
        for (const std::string& value : values) text(pairs_, value);
        return *this;
    }
    template <typename T>
    GgufBuilder& numbers(std::string_view key, uint32_t element_type, const std::vector<T>& values) {
        array(key, element_type, values.size());
        for (const T value : values) put(pairs_, value);
        return *this;
    }
    GgufBuilder& raw(std::string_view key, uint32_t type, std::string_view bytes) {
        pair(key, type);
        pairs_ += bytes;
        return *this;
    }
    /// Data lies at `offset` of the data part, where the caller puts it by `data`.
    GgufBuilder& tensor(std::string_view name, const std::vector<uint64_t>& extents, uint32_t type,
                        uint64_t offset) {
        ++tensor_count_;
        text(tensors_, name);
        put(tensors_, static_cast<uint32_t>(extents.size()));
        for (const uint64_t extent : extents) put(tensors_, extent);
        put(tensors_, type);
        put(tensors_, offset);
        return *this;
    }
    GgufBuilder& data(std::string bytes) {
        data_ = std::move(bytes);
        return *this;
    }

    std::string build(uint32_t version = 3, size_t alignment = 32) const {
        std::string file = "GGUF";
        put(file, version);
        put(file, tensor_count_);
        put(file, pair_count_);
        file += pairs_ + tensors_;
        if (tensor_count_ > 0) file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
        return file + data_;
    }

private:
    template <typename T>
    static void put(std::string& out, T value) {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        out.append(bytes, sizeof(T));
    }
    static void text(std::string& out, std::string_view value) {
        put(out, static_cast<uint64_t>(value.size()));
        out += value;
    }
    void pair(std::string_view key, uint32_t type) {
        ++pair_count_;
        text(pairs_, key);
        put(pairs_, type);
    }
    void array(std::string_view key, uint32_t element_type, size_t count) {
        pair(key, 9);
        put(pairs_, element_type);
        put(pairs_, static_cast<uint64_t>(count));
    }

    uint64_t pair_count_ = 0;
    uint64_t tensor_count_ = 0;
    std::string pairs_;
    std::string tensors_;
    std::string data_;
};

}  // namespace tessera::test
