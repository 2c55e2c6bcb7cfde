#include "support/note.h"

#include <cstdio>
#include <string>

#include "support/printable.h"

namespace tessera {

void say(std::string_view line) {
    const std::string text = printable_lines(line) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace tessera
