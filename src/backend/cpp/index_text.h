#pragma once

#include <string>

#include "backend/index_text.h"

namespace tessera::backend::cpp {

inline constexpr IndexForms kIndexForms{.floor_div = "ntt::floor_div<int64_t>",
                                        .floor_mod = "ntt::floor_mod<int64_t>",
                                        .minimum = "ntt::min<int64_t>",
                                        .maximum = "ntt::max<int64_t>",
                                        .before_element = "int64_t{",
                                        .after_element = "}"};

/// C++ of type int64_t or int.
inline std::string text_of(const movement::Index& index) {
    return backend::text_of(index, kIndexForms);
}

}  // namespace tessera::backend::cpp
