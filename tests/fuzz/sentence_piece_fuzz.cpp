#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/llm/load_tokenizer.h"
#include "run/runtime/artefact.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const std::vector<runtime::NamedFile> files = {
            {"tokenizer.model", std::string(fuzz::text_of(data, size))}};
        const llm::Tokenizer tokenizer = llm::load_tokenizer(files, "fuzz");
        (void)tokenizer.decode(tokenizer.encode("a b\xc3\xa9 12 ab\n\xff<s>", {.add_special = true}));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {repository_file("tests/run/llm/data/spm_bytes/tokenizer.model"),
            repository_file("tests/run/llm/data/spm_unknown/tokenizer.model"),
            repository_file("tests/run/llm/data/spm_unigram/tokenizer.model")};
}
