#pragma once

#include <string>

#include "lowering/movement/index.h"

namespace tessera::backend {

/// A name of a program as an identifier: those of the meaning of a call have a dot.
std::string identifier(const std::string& name);

/// How a language calls what its operators do not give, and the beginning and end of an element of an index
/// operand as an integer of 64 bits.
struct IndexForms {
    const char *floor_div, *floor_mod, *minimum, *maximum;
    const char *before_element, *after_element;
};

/// The integer, with its terms in alphabetical order.
std::string text_of(const movement::Index& index, const IndexForms& forms);

}  // namespace tessera::backend
