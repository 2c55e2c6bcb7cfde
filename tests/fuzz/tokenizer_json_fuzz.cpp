#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/llm/load_tokenizer.h"
#include "run/runtime/artefact.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const std::vector<runtime::NamedFile> files = {
            {"tokenizer.json", std::string(fuzz::text_of(data, size))}};
        const llm::Tokenizer tokenizer = llm::load_tokenizer(files, "fuzz");
        // Every accepted tokenizer can be used.
        const std::vector<TokenId> ids =
            tokenizer.encode("a b\xc3\xa9 12 ab\n\xff<s>", {.add_special = true});
        (void)tokenizer.decode(ids);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> all;
    for (const char* name : {"gpt2", "llama2", "llama3", "metaspace", "smollm", "unigram", "unigram_bytes",
                             "word_piece", "bpe_words"})
        all.push_back(repository_file(fmt::format("tests/run/llm/data/{}/tokenizer.json", name)));
    return all;
}
