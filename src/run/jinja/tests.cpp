#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

// The tests of `is`.

namespace tessera::jinja {
namespace {

template <bool (*holds)(const Value&)>
bool simple(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "test", given, {});
    return holds(input);
}

bool is_list_or_range(const Value& value) {
    const List* list = value.list();
    return list != nullptr && list->kind != List::Kind::kGenerator && list->kind != List::Kind::kView;
}

bool is_iterable(const Value& value) {
    return value.is_undefined() || value.text() != nullptr || value.list() != nullptr ||
           value.dict() != nullptr;
}

/// True if it has a length and items; undefined values are empty sequences.
bool is_sequence(const Value& value) {
    return value.is_undefined() || value.text() != nullptr || value.dict() != nullptr ||
           is_list_or_range(value);
}

bool divides(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "divisibleby", given, {"num"});
    return equals(context, remainder(context, input, bound.at(0)), Value::of(int64_t{0}));
}

template <int parity>
bool has_parity(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "even", given, {});
    return equals(context, remainder(context, input, Value::of(int64_t{2})), Value::of(int64_t{parity}));
}

template <bool holds(int)>
bool has_order(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "test", given, {"other"});
    return holds(order(context, input, bound.at(0)));
}

template <bool wanted>
bool is_equal(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "eq", given, {"other"});
    return equals(context, input, bound.at(0)) == wanted;
}

bool is_in(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "in", given, {"seq"});
    return contains(context, bound.at(0), input);
}

/// True for one object; for values that a template makes, true if they have one type and are equal.
bool is_same(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "sameas", given, {"other"});
    const Value& other = bound.at(0);
    if (input.variant().index() != other.variant().index()) return false;
    if (input.list() != nullptr) return input.list() == other.list();
    if (input.dict() != nullptr) return input.dict() == other.dict();
    return equals(context, input, other);
}

bool is_known_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "filter", given, {});
    return input.text() != nullptr && find_filter(input.text()->bytes()) != nullptr;
}

bool is_known_test(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "test", given, {});
    return input.text() != nullptr && find_test(input.text()->bytes()) != nullptr;
}

template <bool upper>
bool has_case(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "upper", given, {});
    return is_cased(context, to_text(context, input), upper);
}

template <bool value>
bool is_constant(const Value& input) {
    return input.boolean() != nullptr && *input.boolean() == value;
}
bool is_boolean(const Value& input) {
    return input.boolean() != nullptr;
}
/// As in Jinja2, where undefined values are objects that fail when they are called.
bool is_callable(const Value& input) {
    return input.callable() != nullptr || input.is_undefined();
}
bool is_defined(const Value& input) {
    return !input.is_undefined();
}
bool is_undefined(const Value& input) {
    return input.is_undefined();
}
bool is_none(const Value& input) {
    return input.is_none();
}
bool is_integer(const Value& input) {
    return input.is_integer() && input.boolean() == nullptr;
}
bool is_float(const Value& input) {
    return input.is_number() && !input.is_integer();
}
bool is_number(const Value& input) {
    return input.is_number();
}
bool is_mapping(const Value& input) {
    return input.dict() != nullptr;
}
bool is_string(const Value& input) {
    return input.text() != nullptr;
}
bool is_less(int sign) {
    return sign < 0;
}
bool is_at_most(int sign) {
    return sign <= 0;
}
bool is_greater(int sign) {
    return sign > 0;
}
bool is_at_least(int sign) {
    return sign >= 0;
}

constexpr NamedTest kTests[] = {
    {"boolean", simple<is_boolean>},
    {"callable", simple<is_callable>},
    {"defined", simple<is_defined>},
    {"divisibleby", divides},
    {"eq", is_equal<true>},
    {"equalto", is_equal<true>},
    {"==", is_equal<true>},
    {"even", has_parity<0>},
    {"false", simple<is_constant<false>>},
    {"filter", is_known_filter},
    {"float", simple<is_float>},
    {"ge", has_order<is_at_least>},
    {">=", has_order<is_at_least>},
    {"greaterthan", has_order<is_greater>},
    {"gt", has_order<is_greater>},
    {">", has_order<is_greater>},
    {"in", is_in},
    {"integer", simple<is_integer>},
    {"iterable", simple<is_iterable>},
    {"le", has_order<is_at_most>},
    {"<=", has_order<is_at_most>},
    {"lessthan", has_order<is_less>},
    {"lt", has_order<is_less>},
    {"<", has_order<is_less>},
    {"lower", has_case<false>},
    {"mapping", simple<is_mapping>},
    {"ne", is_equal<false>},
    {"!=", is_equal<false>},
    {"none", simple<is_none>},
    {"number", simple<is_number>},
    {"odd", has_parity<1>},
    {"sameas", is_same},
    {"sequence", simple<is_sequence>},
    {"string", simple<is_string>},
    {"test", is_known_test},
    {"true", simple<is_constant<true>>},
    {"undefined", simple<is_undefined>},
    {"upper", has_case<true>},
};

}  // namespace

Test find_test(std::string_view name) {
    for (const NamedTest& each : kTests)
        if (each.name == name) return each.test;
    return nullptr;
}

std::vector<std::string> test_names() {
    std::vector<std::string> names;
    for (const NamedTest& each : kTests) names.emplace_back(each.name);
    return names;
}

}  // namespace tessera::jinja
