#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/architecture/architectures.h"
#include "import/step.h"
#include "ir/graph.h"

namespace tessera::import {

/// A model, known by its settings alone.
struct ImportedShapes {
    Graph graph;       ///< with composites; its constants name tensors that need not exist
    std::string type;  ///< of all weights: "f16"
    int64_t max_positions = 0;
    std::vector<std::string> warnings;
};

/// The graph that import_model makes of a checkpoint whose weights all have the type that the settings state
/// (BF16 where they state none), without looking at weights. `path`: a config.json under any name, or a
/// folder with one. @throws Error naming everything that is not supported, at once.
ImportedShapes import_shapes(const std::filesystem::path& path, const StepLimits& limits,
                             const Architectures& known = {});

/// True if the config.json at `path`, as above, is of a diffusion transformer.
bool is_diffusion_model(const std::filesystem::path& path);

/// The graph of one denoising step of a diffusion transformer (import/diffusion_transformer.h) for this many
/// images. Its rows are the `max_positions` patches of each image. @throws Error as above
ImportedShapes import_diffusion_shapes(const std::filesystem::path& path, int64_t images);

}  // namespace tessera::import
