#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/hf/config.h"
#include "run/llm/sample.h"
#include "run/llm/stated_sampling.h"

namespace {

namespace fs = std::filesystem;

/// A good config.json, beside which every input is the generation_config.json.
struct Folder {
    Folder() {
        fs::create_directories(path);
        std::ofstream(path / "config.json") << tessera::fuzz::config_seeds().front();
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    fs::path path = fs::temp_directory_path() / ("tessera-fuzz-settings-" + std::to_string(::getpid()));
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    static const Folder folder;
    std::ofstream(folder.path / "generation_config.json", std::ios::binary) << fuzz::text_of(data, size);
    return fuzz::accepts_or_throws_error([&] {
        import::Findings findings;
        (void)import::read_hf_config((folder.path / "config.json").string(), {}, findings);
        llm::check(llm::decided(llm::read_stated_sampling(folder.path), {}));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {R"({"bos_token_id": 1, "eos_token_id": [2, 3], "temperature": 0.6, "top_k": 20, "top_p": 0.95})"};
}
