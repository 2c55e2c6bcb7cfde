#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "tessera/error.h"

namespace tessera {

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& details);

}  // namespace tessera

/// For our own bugs only; never reachable from input. Further arguments are a fmt format and its values.
#define TESSERA_CHECK(condition, ...)                                                             \
    do {                                                                                          \
        if (!(condition))                                                                         \
            ::tessera::check_failed(#condition, __FILE__, __LINE__, fmt::format("" __VA_ARGS__)); \
    } while (false)
