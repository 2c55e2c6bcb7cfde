#include "cli/announce_memory.h"

#include <cstdio>

#include <fmt/format.h>

#include "llm/memory_need.h"
#include "machine/host_memory.h"

namespace tessera::cli {

void announce_memory(const Manifest& manifest, const SessionOptions& options) {
    fmt::print(stderr, "memory: {}\n",
               describe(manifest, memory_need(manifest, options), host_memory_bytes()));
}

}  // namespace tessera::cli
