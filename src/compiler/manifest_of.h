#pragma once

#include <optional>

#include "compiler/compiler.h"
#include "import/import_model.h"
#include "runtime/manifest.h"

namespace tessera::compiler {

/// What generating text needs to know of a model.
runtime::Manifest::Text text_of(const import::ModelFacts& facts);

/// What the run time must know of a compiled model.
runtime::Manifest manifest_of(const std::optional<runtime::Manifest::Text>& text, const Compiled& compiled,
                              const machine::Machine& machine);

}  // namespace tessera::compiler
