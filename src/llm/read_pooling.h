#pragma once

#include <filesystem>
#include <string>

namespace tessera::llm {

/// What a model's files say of its embeddings.
struct StatedPooling {
    std::string pooling;     ///< a name of tessera/embedding.h, or one that is not known; empty: nothing
    bool normalises = true;  ///< to length 1
};

/// Of a folder: the files of sentence-transformers, `modules.json` and `1_Pooling/config.json`. Of a GGUF
/// file: the key `pooling_type` of its architecture.
/// @throws Error for a file that is wrong, and for modules that change an embedding in another way
StatedPooling read_pooling(const std::filesystem::path& model);

}  // namespace tessera::llm
