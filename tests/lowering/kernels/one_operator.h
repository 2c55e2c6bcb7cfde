#pragma once

#include <string>
#include <string_view>

#include "ir/definition.h"
#include "lowering/kernels/micro_kernels.h"

namespace tessera::kernels {

/// `text` is all of the definition but its first word.
inline Definition definition(const std::string& text) {
    return parse_definition("op " + text, "test");
}

/// Why the micro-kernel does not implement the definition; empty if it does.
inline std::string why_not(std::string_view kernel, const Definition& d) {
    return find_micro_kernel(kernel)->why_not(d);
}

}  // namespace tessera::kernels
