#include "llm/load_tokenizer.h"

#include "import/gguf/gguf_file.h"
#include "llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera {
namespace {

TokenizerParts read_folder(const std::filesystem::path& folder) {
    const auto has = [&](const char* name) { return std::filesystem::exists(folder / name); };
    if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json");
    if (has("vocab.json") && has("merges.txt")) return read_vocabulary_and_merges(folder);
    if (has("vocab.json") || has("merges.txt"))
        throw Error(folder.string(), "",
                    fmt::format("has {0} but no {1}; a tokenizer needs both, or a tokenizer.json",
                                has("vocab.json") ? "vocab.json" : "merges.txt",
                                has("vocab.json") ? "merges.txt" : "vocab.json"));
    if (has("tokenizer.model"))
        throw Error(folder.string(), "tokenizer.model", "is a SentencePiece model, which is not supported",
                    "convert it to a tokenizer.json with the `tokenizers` library");
    throw Error(folder.string(), "",
                "has no tokenizer: neither tokenizer.json, nor vocab.json with merges.txt");
}

}  // namespace

Tokenizer load_tokenizer(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) return Tokenizer(read_folder(path));
    if (GgufFile::is_gguf(path)) return Tokenizer(read_gguf_tokenizer(path));
    if (path.extension() == ".json") return Tokenizer(read_tokenizer_json(path));
    throw Error(path.string(), "", "is neither a folder, nor a GGUF file, nor a tokenizer.json");
}

}  // namespace tessera
