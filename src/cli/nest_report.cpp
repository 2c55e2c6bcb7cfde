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

int report_illegal(const std::string& file, size_t illegal, size_t all) {
    if (illegal == 0) return 0;
    note("tessera price: {}: {} of {} nests are illegal", file, illegal, all);
    return 1;
}

}  // namespace tessera::cli
