#pragma once

#include <string>

#include "lowering/movement/call.h"
#include "lowering/movement/program.h"

/// The pieces of a program's text (print_program.cpp, parse_program.h).
namespace tessera::movement {

/// "3", "-0.5", "2.0", "-inf": numbers with a fraction or an exponent are none of integers.
std::string printed_number(const Number& number);
/// "t: 0..63 multiple 16"
std::string printed_declaration(const Variable& variable);
/// "x[64 * t]", "x[64 * t; 1]" with lanes one element apart.
std::string printed_element(const Address& address, int64_t lane_stride = 0);
std::string printed_value(const ValueExpr& value);
/// A name of the graph, of any characters, in quotes.
std::string quoted(const std::string& name);
/// The first line of a statement, without a brace.
std::string printed_head(const Statement& statement);
/// "&x[0] by (64, 1)"
std::string printed_field(const FieldValue& field);

}  // namespace tessera::movement
