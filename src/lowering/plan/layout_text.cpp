#include "lowering/plan/layout_text.h"

#include "ir/text_scanner.h"
#include "support/error.h"

namespace tessera::plan {

Layout parse_layout(std::string_view text, const std::string& where) {
    TextScanner scanner(text, where);
    const bool is_row_major = scanner.take("row-major");
    Layout layout = is_row_major ? Layout{} : scanner.layout();
    if (!is_row_major && layout.is_row_major() && layout.order.empty())
        scanner.fail_expecting("row-major, order [..] or lanes <..>");
    scanner.expect_end();
    return layout;
}

}  // namespace tessera::plan
