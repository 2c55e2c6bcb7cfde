#pragma once

#include <optional>

#include "compiler/compiler.h"
#include "import/import_model.h"
#include "runtime/manifest.h"

namespace tessera {

/// What generating text needs to know of a model.
Manifest::Text text_of(const ModelFacts& facts);

/// What the run time must know of a compiled model.
Manifest manifest_of(const std::optional<Manifest::Text>& text, const Compiled& compiled,
                     const Machine& machine);

}  // namespace tessera
