#pragma once

#include <string>
#include <vector>

#include "run/jinja/context.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

/// The part of an item that filters use: `attribute="function.name"`, or a number.
class AttributePath {
public:
    /// @pre `path` is a text or an integer
    AttributePath(Context& context, const Value& path);
    /// Undefined if the item does not have it.
    Value of(Context& context, const Value& item) const;

private:
    std::vector<Value> parts_;
};

/// The value without case, for filters that order and compare.
Value without_case(Context& context, const Value& value);

}  // namespace tessera::jinja
