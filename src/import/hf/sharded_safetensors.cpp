#include "import/hf/sharded_safetensors.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "support/error.h"
#include "support/json.h"

namespace tessera::import {
namespace {

namespace fs = std::filesystem;

/// More than twice what a model with hundreds of experts in every layer has.
constexpr JsonBounds kIndexBounds{.bytes = size_t{64} << 20, .values = 400'000, .depth = 4, .word = 4096};
/// Each is a mapping of its own; the largest checkpoints have a few hundred.
constexpr size_t kMostShards = 4096;
constexpr size_t kLongestFileName = 255;  // of a file, on Linux

/// The shards that the index names, in the order of names.
std::set<std::string> read_shards(const std::string& path) {
    const JsonCursor weight_map = read_json_object(path, kIndexBounds).at("weight_map");
    std::set<std::string> shards;
    for (const std::string& tensor : weight_map.keys()) {
        const JsonCursor file = weight_map.at(tensor);
        const std::string name = file.string();
        if (name.empty() || name.size() > kLongestFileName || name.front() == '.' ||
            name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
            file.fail_expected("the name of a file beside the index");
        shards.insert(name);
    }
    if (shards.empty()) weight_map.fail("is empty");
    if (shards.size() > kMostShards)
        weight_map.fail(fmt::format("names {} files, expected at most {}", shards.size(), kMostShards));
    return shards;
}

bool are_equal(const StoredTensor& a, const StoredTensor& b) {
    return a.type == b.type && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

}  // namespace

ShardedSafetensors ShardedSafetensors::open(const std::string& index_path) {
    const fs::path folder = fs::path(index_path).parent_path();
    ShardedSafetensors result;
    std::vector<std::string> paths;
    for (const std::string& file : read_shards(index_path)) {
        const std::string& path = paths.emplace_back((folder / file).string());
        if (std::error_code ignored; !fs::exists(path, ignored))
            throw Error(index_path, file, "is missing", "the checkpoint was not copied whole");
        const SafetensorsFile& shard = result.shards_.emplace_back(SafetensorsFile::open(path));
        for (const std::string& tensor : shard.names()) {
            const auto [found, is_new] = result.shard_of_.emplace(tensor, result.shards_.size() - 1);
            if (is_new) continue;
            const SafetensorsFile& before = result.shards_[found->second];
            const bool is_copy = are_equal(*before.find(tensor), *shard.find(tensor));
            before.release(tensor);
            shard.release(tensor);
            if (!is_copy)
                throw Error(path, tensor, fmt::format("lies in {}, too, and differs", paths[found->second]),
                            "remove the shard that does not belong to the model");
        }
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
