#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "import/gguf_builder.h"
#include "run/llm/utf8.h"

namespace tessera::test {

inline std::filesystem::path fixtures() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/run/llm/data";
}

/// A folder of its own for one test; removed with the object.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() /
                ("tessera_" + name + "_" + std::to_string(std::random_device{}()))) {
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
    return nlohmann::json::parse(read_file(path));
}

/// The texts of a tokenizer.json by id, added tokens included.
inline std::vector<std::string> tokens_of(const nlohmann::json& document) {
    std::vector<std::string> tokens;
    const auto put = [&](size_t id, const std::string& text) {
        if (id >= tokens.size()) tokens.resize(id + 1);
        tokens[id] = text;
    };
    for (const auto& item : document.at("model").at("vocab").items()) put(item.value(), item.key());
    for (const auto& added : document.at("added_tokens")) put(added.at("id"), added.at("content"));
    return tokens;
}

/// Characters of every kind, valid UTF-8.
inline std::string random_unicode(std::mt19937& random, size_t length) {
    constexpr char32_t kRanges[][2] = {{0x20, 0x7e},       {0x20, 0x7e},       {0, 0x2ff},
                                       {0x300, 0x36f},     {0x400, 0x4ff},     {0x2000, 0x206f},
                                       {0x3000, 0x30ff},   {0xac00, 0xd7a3},   {0xe000, 0xffff},
                                       {0x1f300, 0x1f6ff}, {0x10000, 0x10ffff}};
    std::string text;
    for (size_t i = 0; i < length; ++i) {
        const auto& range = kRanges[random() % std::size(kRanges)];
        llm::append_utf8(text, range[0] + static_cast<char32_t>(random() % (range[1] - range[0] + 1)));
    }
    return text;
}

inline std::string random_bytes(std::mt19937& random, size_t length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(random());
    return bytes;
}

}  // namespace tessera::test
