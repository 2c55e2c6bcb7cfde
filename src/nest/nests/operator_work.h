#pragma once

#include <string>

#include "ir/facts/work.h"
#include "nest/nests/kernel.h"
#include "nest/nests/trip_walk.h"

namespace tessera::nests {

/// The operations of all executions (zoo notation, work), `where` ignored. @throws Error beyond 64 bits
facts::OperationCount work_of(const Operator& op, const OperatorCounts& counts, const std::string& where);

}  // namespace tessera::nests
