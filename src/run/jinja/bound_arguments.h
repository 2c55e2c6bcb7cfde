#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "run/jinja/context.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

/// The arguments of a filter, test or function by the names of its parameters.
class BoundArguments {
public:
    /// @throws Error for an argument too many, or of an unknown name
    BoundArguments(Context& context, std::string_view function, const Arguments& given,
                   std::initializer_list<std::string_view> parameters);

    bool has(size_t parameter) const { return values_[parameter] != nullptr; }
    /// @throws Error if it is not given
    const Value& at(size_t parameter) const;
    Value value_or(size_t parameter, const Value& otherwise) const;
    Text text_or(size_t parameter, std::string_view otherwise) const;
    int64_t integer_or(size_t parameter, int64_t otherwise) const;
    bool boolean_or(size_t parameter, bool otherwise) const;

private:
    Context& context_;
    std::string_view function_;
    std::vector<std::string_view> parameters_;
    std::vector<const Value*> values_;
};

}  // namespace tessera::jinja
