#pragma once

#include <span>

#include "movement/call.h"

namespace tessera {

/// Every kind of call, for those who read programs.
std::span<const CallKind* const> call_kinds();

}  // namespace tessera
