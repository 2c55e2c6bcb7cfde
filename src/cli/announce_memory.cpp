#include "cli/announce_memory.h"

#include <cstdio>

#include <fmt/core.h>

#include "support/note.h"

namespace tessera::cli {

void announce_memory(const ModelFile& file, const ModelSettings& settings) {
    note("memory: {}", file.describe_memory(settings));
}

}  // namespace tessera::cli
