#pragma once

#include <map>
#include <string>

#include "backend/cpp/index_text.h"
#include "lowering/movement/number_kind.h"
#include "lowering/movement/program.h"

namespace tessera::backend::cpp {

/// The context of a value's text: whether it stands in a group of lanes, and which accumulators have lanes.
struct ValueContext {
    int64_t lanes = 1;                                      ///< of the group; 1: scalars
    std::string valid;                                      ///< the number of valid lanes, in the group
    std::map<std::string, movement::Declare> accumulators;  ///< in scope, by name

    std::string vector() const;  ///< "ntt::Vector<float, 16>", or "float"
    std::string vector_of_int() const;
};

struct Text {
    std::string text;
    movement::NumberKind kind = movement::NumberKind::kFloat;
    bool has_lanes = false;
    bool is_wide = false;  ///< integers of 64 bits in its lanes, else of 32; those of scalars have 64
};

/// True if an element of an index operand says what is loaded.
bool is_chosen(const movement::ValueExpr& value);
/// C++ over NTT.
Text text_of(const movement::ValueExpr& value, const ValueContext& context);
/// The same as floats, with lanes where the context has them (`widened`).
std::string float_text(const movement::ValueExpr& value, const ValueContext& context, bool widened);
/// A group of lanes of a product's factor: a vector, also of one lane.
std::string factor_text(const movement::ValueExpr& value, const ValueContext& context);
/// The value as a condition.
Text condition_text(const movement::ValueExpr& value, const ValueContext& context);
std::string address_text(const movement::Address& address);
std::string float_literal(double value);

}  // namespace tessera::backend::cpp
