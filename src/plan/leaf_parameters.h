#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/definition.h"
#include "plan/nest.h"

namespace tessera {

/// The iterator that a parameter of the leaf names; -1 if it is not given or names none.
int iterator_of(const Definition& definition, const Leaf& leaf, const std::string& parameter);

/// The parameters that are integers: the others name iterators.
std::map<std::string, int64_t> numbers(const Leaf& leaf);

}  // namespace tessera
