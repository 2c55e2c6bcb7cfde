#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/hf/sharded_safetensors.h"

namespace {

namespace fs = std::filesystem;

/// Two shards, a.safetensors and b.safetensors, beside which every input is the index.
struct Folder {
    Folder() {
        fs::create_directories(path);
        std::ofstream(path / "a.safetensors", std::ios::binary) << tessera::fuzz::safetensors_seeds()[0];
        std::ofstream(path / "b.safetensors", std::ios::binary) << tessera::fuzz::safetensors_seeds()[1];
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    fs::path path = fs::temp_directory_path() / ("tessera-fuzz-shards-" + std::to_string(::getpid()));
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    static const Folder folder;
    const fs::path index = folder.path / "model.safetensors.index.json";
    std::ofstream(index, std::ios::binary) << fuzz::text_of(data, size);
    return fuzz::accepts_or_throws_error([&] { (void)import::ShardedSafetensors::open(index.string()); });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {R"({"metadata": {"total_size": 28}, "weight_map": {"a": "a.safetensors", "b": "a.safetensors",
 "c": "a.safetensors"}})"};
}
