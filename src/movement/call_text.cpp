#include "movement/call_text.h"

#include "support/error.h"

namespace tessera::movement {

std::string fixed(const Index& value) {
    const auto constant = value.as_constant();
    return constant ? fmt::format("ntt::Int<{}>{{}}", *constant) : value.text();
}

std::string shared_extent(const Index& value) {
    return value.as_constant() == 1 ? "ntt::Int<1>{}" : value.text();
}

std::string tile_member(const char* name, int64_t value, int64_t otherwise) {
    return value == otherwise ? "" : fmt::format(", .{} = {}", name, value);
}

}  // namespace tessera::movement
