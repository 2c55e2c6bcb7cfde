#include "cli/announce_memory.h"

#include <cstdio>

#include <fmt/core.h>

namespace tessera::cli {

void announce_memory(const ModelFile& file, const ModelSettings& settings) {
    fmt::print(stderr, "memory: {}\n", file.describe_memory(settings));
}

}  // namespace tessera::cli
