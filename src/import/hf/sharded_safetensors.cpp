#include "import/hf/sharded_safetensors.h"

#include <filesystem>

#include <fmt/format.h>

#include "support/error.h"
#include "support/json.h"

namespace tessera::import {
namespace {

/// More than twice what a model with hundreds of experts in every layer has.
constexpr JsonBounds kIndexBounds{.bytes = size_t{64} << 20, .values = 400'000, .depth = 4, .word = 4096};
/// Each is a mapping of its own; the largest checkpoints have a few hundred.
constexpr size_t kMostShards = 4096;
constexpr size_t kLongestFileName = 255;  // of a file, on Linux

/// Shard by tensor, as the index says.
std::map<std::string, std::string> read_weight_map(const std::string& path) {
    const JsonCursor weight_map = read_json_object(path, kIndexBounds).at("weight_map");
    std::map<std::string, std::string> shards;
    for (const std::string& tensor : weight_map.keys()) {
        const JsonCursor file = weight_map.at(tensor);
        const std::string name = file.string();
        if (name.empty() || name.size() > kLongestFileName || name.front() == '.' ||
            name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
            file.fail_expected("the name of a file beside the index");
        shards.emplace(tensor, name);
    }
    if (shards.empty()) weight_map.fail("is empty");
    return shards;
}

}  // namespace

ShardedSafetensors ShardedSafetensors::open(const std::string& index_path) {
    const std::map<std::string, std::string> weight_map = read_weight_map(index_path);
    const std::filesystem::path folder = std::filesystem::path(index_path).parent_path();
    std::map<std::string, size_t> opened;  // by name of the shard
    for (const auto& [tensor, file] : weight_map) opened.emplace(file, 0);
    if (opened.size() > kMostShards)
        throw Error(index_path, "weight_map",
                    fmt::format("names {} files, expected at most {}", opened.size(), kMostShards));

    ShardedSafetensors result;
    for (auto& [file, index] : opened) {
        const std::string path = (folder / file).string();
        if (std::error_code ignored; !std::filesystem::exists(path, ignored))
            throw Error(index_path, file, "is missing", "the checkpoint was not copied whole");
        index = result.shards_.size();
        result.shards_.push_back(SafetensorsFile::open(path));
        for (const std::string& tensor : result.shards_.back().names()) {
            const auto expected = weight_map.find(tensor);
            if (expected == weight_map.end())
                throw Error(path, tensor, fmt::format("is not in {}", index_path));
            if (expected->second != file)
                throw Error(path, tensor,
                            fmt::format("lies here, {} says in {}", index_path, expected->second));
        }
    }
    for (const auto& [tensor, file] : weight_map) {
        const size_t shard = opened.at(file);
        if (result.shards_[shard].find(tensor) == nullptr)
            throw Error((folder / file).string(), tensor,
                        fmt::format("is missing, {} says it lies here", index_path));
        result.shard_of_.emplace(tensor, shard);
    }
    return result;
}

const StoredTensor* ShardedSafetensors::find(std::string_view name) const {
    const auto found = shard_of_.find(name);
    return found == shard_of_.end() ? nullptr : shards_[found->second].find(name);
}

std::vector<std::string> ShardedSafetensors::names() const {
    std::vector<std::string> all;
    for (const auto& [name, shard] : shard_of_) all.push_back(name);
    return all;
}

void ShardedSafetensors::release(std::string_view name) const {
    const auto found = shard_of_.find(name);
    if (found != shard_of_.end()) shards_[found->second].release(name);
}

}  // namespace tessera::import
