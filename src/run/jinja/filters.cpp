#include <algorithm>
#include <array>

#include "run/jinja/builtins.h"

namespace tessera::jinja {
namespace {

/// All families.
std::vector<NamedFilter> all_filters() {
    std::vector<NamedFilter> all;
    for (const auto* family :
         {&text_filters(), &number_filters(), &sequence_filters(), &selection_filters(), &order_filters()})
        all.insert(all.end(), family->begin(), family->end());
    return all;
}

}  // namespace

Filter find_filter(std::string_view name) {
    for (const NamedFilter& each : all_filters())
        if (each.name == name) return each.filter;
    return nullptr;
}

std::vector<std::string> filter_names() {
    std::vector<std::string> names;
    for (const NamedFilter& each : all_filters()) names.emplace_back(each.name);
    return names;
}

}  // namespace tessera::jinja
