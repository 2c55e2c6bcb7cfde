#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/jinja/context.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

using Filter = Value (*)(Context&, const Value& input, const Arguments&);
using Test = bool (*)(Context&, const Value& input, const Arguments&);

struct NamedFilter {
    std::string_view name;
    Filter filter;
};
struct NamedTest {
    std::string_view name;
    Test test;
};

/// Null where there is none of this name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);
std::vector<std::string> filter_names();
std::vector<std::string> test_names();

// The families of filters, one file each.
const std::vector<NamedFilter>& text_filters();
const std::vector<NamedFilter>& number_filters();
const std::vector<NamedFilter>& sequence_filters();
const std::vector<NamedFilter>& selection_filters();
const std::vector<NamedFilter>& order_filters();

/// A function that every template can call, `range` for example; undefined where there is none of this name.
Value global_function(std::string_view name);

/// A bound method of a text, list or mapping as Python names it; undefined where there is none that leaves
/// the value as it is. `position` of the context must be that of the attribute.
std::optional<Value> find_method(Context& context, const Value& self, const std::string& name);

}  // namespace tessera::jinja
