#include "run/llm/load_tokenizer.h"

#include <array>

#include "import/gguf/gguf_parts.h"
#include "run/llm/chat_template.h"
#include "run/llm/file_source.h"
#include "run/llm/tokenizer_sources.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/stand_in.h"

namespace tessera::llm {
namespace {

/// Prefixes of the keys of the tokenizer, the chat template and sampling (run/llm/stated_sampling.h).
constexpr std::array<std::string_view, 2> kGgufKeys = {"tokenizer.", "general.sampling."};

constexpr std::array kFolderFiles = {"tokenizer.json",
                                     "tokenizer.model",
                                     "vocab.json",
                                     "merges.txt",
                                     "added_tokens.json",
                                     "tokenizer_config.json",
                                     "special_tokens_map.json",
                                     "config.json",
                                     "generation_config.json",
                                     "chat_template.jinja",
                                     "chat_template.json"};

TokenizerParts read_files(FileSource& files) {
    if (files.contains("tokenizer.json")) return read_tokenizer_json(files, "tokenizer.json");
    if (files.contains("tokenizer.model")) return read_sentence_piece(files, "tokenizer.model");
    const bool has_vocabulary = files.contains("vocab.json");
    const bool has_merges = files.contains("merges.txt");
    if (has_vocabulary && has_merges) return read_vocabulary_and_merges(files);
    if (has_vocabulary || has_merges)
        throw Error(files.where(), "",
                    fmt::format("has {} but no {}; a tokenizer needs both, or a tokenizer.json",
                                has_vocabulary ? "vocab.json" : "merges.txt",
                                has_vocabulary ? "merges.txt" : "vocab.json"));
    throw Error(
        files.where(), "",
        "has no tokenizer: neither tokenizer.json, nor tokenizer.model, nor vocab.json with merges.txt");
}

bool has_tokenizer(const FileSource& folder) {
    return folder.contains("tokenizer.json") || folder.contains("tokenizer.model") ||
           (folder.contains("vocab.json") && folder.contains("merges.txt"));
}

}  // namespace

Tokenizer load_tokenizer(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) {
        FileSource files(path);
        return Tokenizer(read_files(files));
    }
    if (import::GgufFile::is_gguf(path))
        return Tokenizer(read_gguf_tokenizer(import::GgufParts::open_first(path)));
    refuse_stand_in(MappedFile::open(path).text(), path.string());
    FileSource files(path.parent_path());
    if (path.extension() == ".model") return Tokenizer(read_sentence_piece(files, path.filename().string()));
    if (path.extension() != ".json")
        throw Error(path.string(), "",
                    "is neither a folder, nor a GGUF file, nor a tokenizer.json or tokenizer.model");
    return Tokenizer(read_tokenizer_json(files, path.filename().string()));
}

Tokenizer load_tokenizer(std::span<const runtime::NamedFile> named, const std::string& where) {
    if (named.empty())
        throw Error(where, "", "has no tokenizer: the model that was compiled had none",
                    "put tokenizer.json beside its config.json and compile again");
    FileSource files(named, where);
    if (!files.contains(kTokenizerGguf)) return Tokenizer(read_files(files));
    const std::string_view text = files.read(kTokenizerGguf);
    return Tokenizer(read_gguf_tokenizer(
        import::GgufFile::parse(std::as_bytes(std::span(text)), files.where(kTokenizerGguf))));
}

std::vector<runtime::NamedFile> tokenizer_files(const std::filesystem::path& model) {
    std::vector<runtime::NamedFile> result;
    if (std::filesystem::is_directory(model)) {
        FileSource folder(model);
        if (!has_tokenizer(folder)) return result;
        for (const char* name : kFolderFiles)
            if (folder.contains(name)) result.push_back({name, std::string(folder.read(name))});
        return result;
    }
    const import::GgufFile file = import::GgufParts::open_first(model);
    if (file.metadata().contains("tokenizer.ggml.tokens"))
        result.push_back({std::string(kTokenizerGguf), file.metadata().write_file(kGgufKeys)});
    return result;
}

ModelTokenizer inspect_tokenizer(const std::filesystem::path& model) {
    ModelTokenizer result{.files = tokenizer_files(model), .problem = {}};
    if (result.files.empty()) return result;
    try {
        (void)load_tokenizer(result.files, "");  // the message must not depend on the model's place
    } catch (const Error& error) {
        result.problem =
            fmt::format("the tokenizer cannot be used, so that there are ids only: {}", error.what());
    }
    try {
        if (auto source = read_chat_template(result.files, "")) {
            result.has_chat_template = true;
            (void)ChatTemplate(std::move(*source));
        }
    } catch (const Error& error) {
        result.has_chat_template = true;
        result.chat_problem = fmt::format(
            "the chat template cannot be used, so that texts are continued only: {}", error.what());
    }
    return result;
}

}  // namespace tessera::llm
