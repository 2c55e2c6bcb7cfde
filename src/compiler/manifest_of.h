#pragma once

#include "compiler/compiler.h"
#include "import/import_model.h"
#include "runtime/manifest.h"

namespace tessera {

/// What the run time needs to know of a compiled model.
Manifest manifest_of(const ImportedModel& model, const Compiled& compiled, const Machine& machine);

}  // namespace tessera
