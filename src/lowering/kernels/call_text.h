#pragma once

#include <cstdint>
#include <string>

#include "lowering/movement/call.h"

/// Tools with which micro-kernels spell their calls in C++ over NTT. A spelling is optional: a call without
/// one is emitted as the statements of its meaning.
namespace tessera::kernels {

/// How NTT calls a factor B that is strided, that a function finds, and that a function computes.
struct FactorForms {
    const char* strided;
    const char* found;  ///< null: it is computed
    const char* computed;
};
inline constexpr FactorForms kFactorInLanes{"lanes", "lanes_at", "decoded"};
inline constexpr FactorForms kFactorInLanePairs{"lane_pairs", nullptr, "decoded"};
inline constexpr FactorForms kFactorInKLanes{"k_lanes", nullptr, "decoded_k"};

/// The kernel into which a call is written as one statement.
class CallText {
public:
    virtual ~CallText() = default;
    virtual void line(const std::string& text) = 0;
    virtual std::string text(const movement::Index& value) const = 0;
    /// A pointer to the element.
    virtual std::string address(const movement::Address& address) const = 0;
    /// The same for an element that begins with a byte, which the type of `pointer + elements` would not say
    /// of packed bits.
    virtual std::string whole_address(const movement::Address& address) const = 0;
    /// A line with the factor and a comma: an operand of NTT, or a function that finds or computes a group of
    /// lanes.
    virtual void factor(const movement::Factor& factor, int64_t lanes, const FactorForms& forms) = 0;

    /// A constant as a type, so that the kernel is made for it.
    std::string fixed(const movement::Index& value) const;
    /// A single row gets a kernel of its own; all other extents share one.
    std::string shared_extent(const movement::Index& value) const;
};

/// A member of a tile, with the comma in front; empty if it has its default `otherwise`.
std::string tile_member(const char* name, int64_t value, int64_t otherwise = 0);

/// A spelling of calls with these fields as the declaration of a micro-kernel has it.
template <class Fields, void (*Spell)(const Fields&, CallText&)>
void spelled(const movement::Call& call, CallText& out) {
    Spell(*call.as<Fields>(), out);
}

}  // namespace tessera::kernels
