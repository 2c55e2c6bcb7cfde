#pragma once

#include <optional>

#include "compiler/compiler.h"
#include "import/import_model.h"
#include "run/runtime/manifest.h"

namespace tessera::compiler {

/// The properties of a model that generating text needs.
runtime::Manifest::Text text_of(const import::ModelFacts& facts);

/// The properties of a compiled model that the run time needs.
runtime::Manifest manifest_of(const std::optional<runtime::Manifest::Text>& text, const Compiled& compiled,
                              const machine::Machine& machine);

}  // namespace tessera::compiler
