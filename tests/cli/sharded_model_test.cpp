#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A safetensors file that is filled tensor by tensor.
struct Shard {
    Json header = Json::object();
    std::string data;

    void add(const std::string& name, Json entry, const std::string& bytes) {
        entry["data_offsets"] = {data.size(), data.size() + bytes.size()};
        header[name] = std::move(entry);
        data += bytes;
    }
    std::string bytes() const {
        const std::string text = header.dump();
        std::string length(8, '\0');
        const uint64_t size = text.size();
        std::memcpy(length.data(), &size, sizeof size);
        return length + text + data;
    }
};

/// Writes model.safetensors of `from` as two shards with an index into `to`.
void split(const fs::path& from, const fs::path& to) {
    const std::string whole = contents_of(from / "model.safetensors");
    uint64_t size = 0;
    std::memcpy(&size, whole.data(), sizeof size);
    const Json header = Json::parse(whole.substr(8, size));
    Shard shards[2];
    Json weight_map;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") continue;
        const size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
        const size_t shard = weight_map.size() % 2;
        weight_map[name] = fmt::format("model-{:05}-of-00002.safetensors", shard + 1);
        shards[shard].add(name, entry, whole.substr(8 + size + begin, end - begin));
    }
    for (size_t shard = 0; shard < 2; ++shard)
        std::ofstream(to / fmt::format("model-{:05}-of-00002.safetensors", shard + 1), std::ios::binary)
            << shards[shard].bytes();
    std::ofstream(to / "model.safetensors.index.json")
        << Json({{"metadata", Json::object()}, {"weight_map", weight_map}}).dump();
}

using ShardedModel = ToyBench;

TEST_F(ShardedModel, CompilesToTheArtefactOfTheWhole) {
    const fs::path shipped = fs::path(TESSERA_SOURCE_DIR) / "models/tessera-tiny";
    for (const char* folder : {"whole/model", "sharded/model"}) {
        fs::create_directories(folder_.path() / folder);
        for (const char* name : {"config.json", "tokenizer.json"})
            fs::copy(shipped / name, folder_.path() / folder);
    }
    fs::copy(shipped / "model.safetensors", folder_.path() / "whole/model");
    split(shipped, folder_.path() / "sharded/model");
    for (const std::string form : {"whole", "sharded"}) {
        const ProcessResult result = tessera({"compile", form + "/model", "-o", form + ".tsr"});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    const std::string whole = contents_of(folder_.path() / "whole.tsr");
    EXPECT_GT(whole.size(), fs::file_size(shipped / "model.safetensors"));
    EXPECT_TRUE(contents_of(folder_.path() / "sharded.tsr") == whole);
}

}  // namespace
}  // namespace tessera
