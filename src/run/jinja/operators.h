#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/jinja/context.h"
#include "run/jinja/value.h"

/// Python's operators on values. All throw Error at the context's position where Python raises an exception.
namespace tessera::jinja {

/// `str(value)`, and `repr(value)`, which has quotes around texts.
Text to_text(Context& context, const Value& value);
Text representation(Context& context, const Value& value);

bool equals(Context& context, const Value& a, const Value& b);
/// -1, 0, 1. @throws Error for values without an order
int order(Context& context, const Value& a, const Value& b);
bool contains(Context& context, const Value& container, const Value& item);

Value add(Context& context, const Value& a, const Value& b);
Value subtract(Context& context, const Value& a, const Value& b);
Value multiply(Context& context, const Value& a, const Value& b);
Value divide(Context& context, const Value& a, const Value& b);
Value floor_divide(Context& context, const Value& a, const Value& b);
Value remainder(Context& context, const Value& a, const Value& b);
Value power(Context& context, const Value& a, const Value& b);
Value negate(Context& context, const Value& value);
/// "%s of %d" % values. `may_be_left`: values that no place takes are no error.
Value format_percent(Context& context, const Text& format, const std::vector<Value>& values,
                     bool may_be_left = false);
/// "{} of {name}".format(..)
Value format_braces(Context& context, const Text& format, const Arguments& given);

/// The items that a `for` visits; empties a generator.
std::vector<Value> iterate(Context& context, const Value& value);
/// Items of a list, keys of a mapping, characters of a text.
int64_t length(Context& context, const Value& value);
/// value[index]; undefined where there is none.
Value item(Context& context, const Value& value, const Value& index);
/// value.name: methods before members, as in Python.
Value attribute(Context& context, const Value& value, const std::string& name);
Value slice(Context& context, const Value& value, const Value& start, const Value& stop, const Value& step);
/// The member of a mapping; null where there is none.
const Value* find(Context& context, const Dict& dict, const Value& key);
/// @throws Error for a value that cannot be a key
void check_key(Context& context, const Value& key);

/// "an undefined value" and the like, for errors.
std::string described(const Value& value);
/// @throws Error if the value is undefined: nothing but printing can be done with it
void refuse_undefined(Context& context, const Value& value);

}  // namespace tessera::jinja
