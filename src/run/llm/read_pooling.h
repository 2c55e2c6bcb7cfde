#pragma once

#include <filesystem>
#include <string>

namespace tessera::llm {

/// The pooling of embeddings that a model's files state.
struct StatedPooling {
    std::string pooling;     ///< a name of tessera/embedding.h, or an unknown one; empty if none is stated
    bool normalises = true;  ///< to length 1
};

/// For a folder, from the files of sentence-transformers, `modules.json` and `1_Pooling/config.json`. For a
/// GGUF file, from the key `pooling_type` of its architecture.
/// @throws Error for a file that is wrong, and for modules that change an embedding in another way
StatedPooling read_pooling(const std::filesystem::path& model);

}  // namespace tessera::llm
