#include <fmt/format.h>

#include "run/jinja/attribute_path.h"
#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"

// `map`, `select` and their like, which apply another filter or test to every item.

namespace tessera::jinja {
namespace {

const Value* named(const Arguments& given, std::string_view name) {
    for (const auto& [key, value] : given.named)
        if (key == name) return &value;
    return nullptr;
}

/// The arguments behind the first `count`.
Arguments behind(const Arguments& given, size_t count) {
    return {{given.positional.begin() + static_cast<ptrdiff_t>(count), given.positional.end()}, given.named};
}

std::string name_at(Context& context, const Arguments& given, size_t position, std::string_view what) {
    const Text* name = given.positional[position].text();
    if (name == nullptr)
        context.fail(fmt::format("the name of a {} is {}", what, described(given.positional[position])));
    return name->bytes();
}

Value map_filter(Context& context, const Value& input, const Arguments& given) {
    std::vector<Value> results;
    if (!is_true(input)) return context.make(std::move(results), List::Kind::kGenerator);
    if (const Value* path = named(given, "attribute"); path != nullptr && given.positional.empty()) {
        const BoundArguments bound(context, "map", given, {"attribute", "default"});
        const AttributePath attribute(context, *path);
        for (const Value& each : iterate(context, input)) {
            Value value = attribute.of(context, each);
            if (value.is_undefined() && bound.has(1)) value = bound.at(1);
            results.push_back(std::move(value));
        }
        return context.make(std::move(results), List::Kind::kGenerator);
    }
    if (given.positional.empty()) context.fail("`map` needs a filter, or attribute=");
    const std::string name = name_at(context, given, 0, "filter");
    const Filter filter = find_filter(name);
    if (filter == nullptr) context.fail(fmt::format("there is no filter `{}`", name));
    const Context::Level level(context);
    const Arguments rest = behind(given, 1);
    for (const Value& each : iterate(context, input)) results.push_back(filter(context, each, rest));
    return context.make(std::move(results), List::Kind::kGenerator);
}

/// The items that a test holds for, or does not; of an attribute of theirs where there is one.
template <bool wanted, bool has_attribute>
Value select_filter(Context& context, const Value& input, const Arguments& given) {
    constexpr size_t kFirst = has_attribute ? 1 : 0;
    if (given.positional.size() < kFirst) context.fail("an attribute is missing");
    const bool has_test = given.positional.size() > kFirst;
    const std::string name = has_test ? name_at(context, given, kFirst, "test") : "";
    const Test test = has_test ? find_test(name) : nullptr;
    if (has_test && test == nullptr) context.fail(fmt::format("there is no test `{}`", name));
    const Arguments rest = behind(given, has_test ? kFirst + 1 : kFirst);
    const Context::Level level(context);
    std::vector<Value> kept;
    if (!is_true(input)) return context.make(std::move(kept), List::Kind::kGenerator);
    for (Value& each : iterate(context, input)) {
        context.step();
        Value looked_at = each;
        if constexpr (has_attribute)
            looked_at = AttributePath(context, given.positional[0]).of(context, each);
        const bool holds = test != nullptr ? test(context, looked_at, rest) : is_true(looked_at);
        if (holds == wanted) kept.push_back(std::move(each));
    }
    return context.make(std::move(kept), List::Kind::kGenerator);
}

}  // namespace

const std::vector<NamedFilter>& selection_filters() {
    static const std::vector<NamedFilter> filters = {
        {"map", map_filter},
        {"reject", select_filter<false, false>},
        {"rejectattr", select_filter<false, true>},
        {"select", select_filter<true, false>},
        {"selectattr", select_filter<true, true>},
    };
    return filters;
}

}  // namespace tessera::jinja
