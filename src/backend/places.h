#pragma once

#include <string>

#include "backend/index_text.h"
#include "lowering/movement/program.h"

namespace tessera::backend {

/// The place at which the buffer begins, in C and C++: a pointer of some type, in terms of `step`, its
/// symbols, `worker` and `repetition`.
std::string place_of(const movement::ProgramBuffer& buffer, const IndexForms& forms);

}  // namespace tessera::backend
