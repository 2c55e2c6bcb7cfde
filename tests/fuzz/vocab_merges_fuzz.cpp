#include <array>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/llm/load_tokenizer.h"
#include "run/runtime/artefact.h"

/// The input is several files, each after a line "=== NAME".
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    constexpr std::array<std::string_view, 5> kNames = {"vocab.json", "merges.txt", "tokenizer_config.json",
                                                        "generation_config.json", "config.json"};
    std::vector<runtime::NamedFile> files;
    std::string_view rest = fuzz::text_of(data, size);
    while (rest.starts_with("=== ")) {
        rest.remove_prefix(4);
        const std::string_view name = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        const size_t end = std::min(rest.find("\n=== "), rest.size());
        for (const std::string_view known : kNames)
            if (name == known) files.push_back({std::string(name), std::string(rest.substr(0, end))});
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return fuzz::accepts_or_throws_error([&] {
        const llm::Tokenizer tokenizer = llm::load_tokenizer(files, "fuzz");
        (void)tokenizer.decode(tokenizer.encode("a b\xc3\xa9 12 ab\n\xff<s>", {.add_special = true}));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::string all;
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer_config.json"})
        all += fmt::format("=== {}\n{}\n", name,
                           repository_file(fmt::format("tests/run/llm/data/qwen2/{}", name)));
    return {all};
}
