#pragma once

#include <map>
#include <string>
#include <string_view>

#include "backend/index_text.h"
#include "lowering/movement/number_kind.h"
#include "lowering/movement/program.h"

namespace tessera::backend::scalar_c {

/// The context of a value's text: whether it stands in a loop over lanes, where it is that of one lane,
/// `lane`; and the accumulators in scope.
struct ValueContext {
    int64_t lanes = 1;
    std::map<std::string, movement::Declare> accumulators;  ///< by name
};

inline constexpr IndexForms kIndexForms{.floor_div = "tessera_div",
                                        .floor_mod = "tessera_mod",
                                        .minimum = "tessera_min",
                                        .maximum = "tessera_max",
                                        .before_element = "(int64_t)",
                                        .after_element = ""};
inline std::string text_of(const movement::Index& index) {
    return backend::text_of(index, kIndexForms);
}
/// An integer that grows by `lane_stride` from lane to lane.
std::string text_of_lane(const movement::Index& first, int64_t lane_stride, const ValueContext& context);

/// A float, an int64_t or a truth, whichever the value is.
std::string text_of(const movement::ValueExpr& value, const ValueContext& context);
/// The element as a float.
std::string load_text(const movement::Load& load, const ValueContext& context);
/// The value as a float.
std::string float_text(const movement::ValueExpr& value, const ValueContext& context);
/// The value as a condition.
std::string condition_text(const movement::ValueExpr& value, const ValueContext& context);
/// A constant of type float.
std::string literal(double value);
/// How two doubles are folded: the name of a function.
const char* folding_function(Monoid monoid);

/// The type of an element in memory; streams of packed bits have bytes.
std::string_view memory_type(ElementType type);

}  // namespace tessera::backend::scalar_c
