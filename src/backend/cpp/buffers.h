#pragma once

#include <string>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::backend::cpp {

/// "const float*", "ntt::bf16*", "ntt::Bits<4>": how the elements of a buffer are addressed.
std::string pointer_type(ElementType element, bool is_written);
/// The type of a parameter for a kernel's buffer: `__restrict` if it is written and no aliasing with the
/// others is possible.
std::string parameter_type(const movement::ProgramBuffer& buffer,
                           const std::vector<movement::ProgramBuffer>& all);
/// A pointer to an element that begins with a byte, which the type of `pointer + elements` would not say of
/// packed bits.
std::string whole_address_text(const movement::Address& address);
/// A pointer to a kernel's buffer, in terms of `step`, its symbols, `worker`, `repetition` and the function
/// `elements`; `from` elements behind its beginning, if it is not empty.
std::string pointer_text(const movement::ProgramBuffer& buffer, const std::string& from = "");

}  // namespace tessera::backend::cpp
