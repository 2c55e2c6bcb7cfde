#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "run/llm/tokenizer.h"
#include "run/runtime/artefact.h"

namespace tessera::llm {

/// Reads the tokenizer of a model: a folder in HuggingFace form (the first of `tokenizer.json`,
/// `tokenizer.model`, and `vocab.json` with `merges.txt`; `tokenizer_config.json`, `config.json` and
/// `generation_config.json` add BOS and EOS where present), one of the first two files alone, or a GGUF file.
/// Weights are not touched.
/// @throws Error naming the missing file, or the component that is not supported.
Tokenizer load_tokenizer(const std::filesystem::path& path);

/// The same from the files that an artefact carries; `where` names the artefact in errors.
Tokenizer load_tokenizer(std::span<const runtime::NamedFile> files, const std::string& where);

/// The files of a model's tokenizer that an artefact carries, and why they cannot be used.
struct ModelTokenizer {
    std::vector<runtime::NamedFile> files;  ///< empty if the model has none
    std::string problem;                    ///< empty if it can be used, or there is none
    bool has_chat_template = false;
    std::string chat_problem;  ///< empty if the chat template can be used, or there is none
};

/// The tokenizer as `tessera check` and `tessera compile` find it; a model runs without one, by ids. @throws
/// Error for a file that cannot be read, or that is none of a tokenizer (support/stand_in.h).
ModelTokenizer inspect_tokenizer(const std::filesystem::path& model);

/// The files that an artefact must carry so that the tokenizer of `model`, a folder or a GGUF file, can be
/// read from it; of a GGUF file the part that concerns the tokenizer. Not checked beyond that. Empty if the
/// model has none.
std::vector<runtime::NamedFile> tokenizer_files(const std::filesystem::path& model);

}  // namespace tessera::llm
