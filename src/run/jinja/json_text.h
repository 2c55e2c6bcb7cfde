#pragma once

#include "run/jinja/context.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

/// The arguments of Python's `json.dumps`.
struct JsonForm {
    bool ascii = false;  ///< characters beyond ASCII are escaped
    bool sorts_keys = false;
    bool is_indented = false;  ///< every value on a line of its own
    Text indent;
    Text item_separator{", "};
    Text key_separator{": "};
};

/// @throws Error for a value that JSON does not have
Text to_json(Context& context, const Value& value, const JsonForm& form);

}  // namespace tessera::jinja
