#include "backend/cpp/buffers.h"

#include <algorithm>

#include "backend/c_type.h"
#include "backend/cpp/value.h"
#include "backend/places.h"
#include "support/error.h"

namespace tessera::backend::cpp {
namespace {

/// The type of an element in memory; empty for elements smaller than a byte.
std::string type_in_memory(ElementType type) {
    if (type == ElementType::kF16) return "ntt::f16";
    if (type == ElementType::kBF16) return "ntt::bf16";
    return std::string(c_type(type));
}

/// Buffers whose place differs between repetitions count as sharing memory.
bool may_share_memory(const movement::ProgramBuffer& a, const movement::ProgramBuffer& b) {
    if (a.memory != b.memory) return false;
    if (a.memory != movement::MemoryKind::kArena) return a.position == b.position;
    if (!(a.repetition_stride == movement::Index(0)) || !(b.repetition_stride == movement::Index(0)))
        return true;
    return a.position < b.position + b.bytes && b.position < a.position + a.bytes;
}

}  // namespace

std::string pointer_type(ElementType element, bool is_written) {
    if (const std::string type = type_in_memory(element); !type.empty())
        return fmt::format("{}{}*", is_written ? "" : "const ", type);
    TESSERA_CHECK(!is_written, "{}", name(element));
    return fmt::format("ntt::{}<{}>", range(element).low < 0 ? "SignedBits" : "Bits", bits(element));
}

std::string parameter_type(const movement::ProgramBuffer& buffer,
                           const std::vector<movement::ProgramBuffer>& all) {
    const bool is_alone = std::none_of(all.begin(), all.end(), [&](const movement::ProgramBuffer& other) {
        return &other != &buffer && may_share_memory(buffer, other);
    });
    return fmt::format("{} const{}", pointer_type(buffer.element, buffer.is_written),
                       buffer.is_written && is_alone ? " __restrict" : "");
}

std::string pointer_text(const movement::ProgramBuffer& b, const std::string& from) {
    const std::string base = place_of(b, kIndexForms);
    if (const std::string type = type_in_memory(b.element); !type.empty())
        return fmt::format("elements<{}{}>({}){}", b.is_written ? "" : "const ", type, base,
                           from.empty() ? "" : " + " + from);
    TESSERA_CHECK(b.memory == movement::MemoryKind::kConstant, "{} of {}", b.name, name(b.element));
    return fmt::format("{}({})", pointer_type(b.element, b.is_written), base);
}

std::string whole_address_text(const movement::Address& address) {
    if (bits(address.element) >= 8 || address.offset == movement::Index(0)) return address_text(address);
    const movement::Index bytes =
        movement::floor_div(address.offset * movement::Index(bits(address.element)), 8);
    return fmt::format("{}({}.bytes() + {})", pointer_type(address.element, false), address.buffer,
                       text_of(bytes));
}

}  // namespace tessera::backend::cpp
