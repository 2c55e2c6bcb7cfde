#include "cli/nest_report.h"

#include <cstdio>

#include "support/note.h"

namespace tessera::cli {

int report_nest(std::string_view verb, const std::string& file, const std::string& shown,
                const nests::Illegal* illegal) {
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    if (!illegal) return 0;
    note("tessera {}: {}: the nest is illegal ({}): {}", verb, file, name(illegal->kind), illegal->reason);
    return 1;
}

}  // namespace tessera::cli
