#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "import/architecture/architectures.h"
#include "import/findings.h"
#include "import/place_tensors.h"
#include "import/weights.h"

namespace tessera::import {

/// The checkpoint at the path of a model, as far as it could be read.
struct Checkpoint {
    std::string path;
    std::string format;                           ///< "HuggingFace", "GGUF v3"
    std::optional<ModelConfig> config;            ///< empty for an architecture that is not supported
    std::optional<ModelParts> parts;              ///< empty without settings that say the sizes of all layers
    std::optional<PlacedTensors> placed;          ///< likewise, and without weights
    std::shared_ptr<const WeightSource> weights;  ///< null where there are only settings
    std::string tokenizer;                        ///< the file that holds it; empty if there is none
    Findings findings;
};

/// Opens a folder in HuggingFace form (config.json, model.safetensors or its shards with their index), a GGUF
/// file, or a config.json alone.
/// @throws Error if the path holds none of them, or a file is damaged.
Checkpoint open_checkpoint(const std::filesystem::path& path, const Architectures& known = {});

/// @throws Error if a folder has no config.json; it names a GGUF file that lies there instead.
void refuse_without_config(const std::filesystem::path& folder);

}  // namespace tessera::import
