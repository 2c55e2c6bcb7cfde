#include "lowering/kernels/call_text.h"

#include <fmt/format.h>

namespace tessera::kernels {

std::string CallText::fixed(const movement::Index& value) const {
    const auto constant = value.as_constant();
    return constant ? fmt::format("ntt::Int<{}>{{}}", *constant) : text(value);
}

std::string CallText::shared_extent(const movement::Index& value) const {
    return value.as_constant() == 1 ? "ntt::Int<1>{}" : text(value);
}

std::string tile_member(const char* name, int64_t value, int64_t otherwise) {
    return value == otherwise ? "" : fmt::format(", .{} = {}", name, value);
}

}  // namespace tessera::kernels
