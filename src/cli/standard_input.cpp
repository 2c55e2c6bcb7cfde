#include "cli/standard_input.h"

#include <cstdio>

#include "support/error.h"

namespace tessera::cli {

std::string read_standard_input() {
    std::string text;
    char buffer[64 * 1024];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) text.append(buffer, count);
    if (std::ferror(stdin) != 0) throw Error("standard input", "", "cannot be read");
    return text;
}

}  // namespace tessera::cli
