#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"

// Filters that make numbers, and `default`.

namespace tessera::jinja {
namespace {

Value abs_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "abs", given, {});
    if (!input.is_number()) {
        refuse_undefined(context, input);
        context.fail(fmt::format("`abs` cannot have {}", described(input)));
    }
    if (input.is_integer()) return input.integer() < 0 ? negate(context, input) : Value::of(input.integer());
    return Value::of(std::fabs(input.real()));
}

/// A number as Python's `int` and `float` read it: white space around it, underscores between digits.
std::optional<std::string> plain_number(std::string_view text) {
    text = trim_left(trim_right(text));
    std::string digits;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            digits += text[i];
            continue;
        }
        const auto is_alphanumeric = [&](size_t at) {
            return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
        };
        if (i == 0 || !is_alphanumeric(i - 1) || !is_alphanumeric(i + 1)) return std::nullopt;
    }
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.erase(0, 1);
    return digits;
}

std::optional<double> real_of(std::string_view text) {
    const auto digits = plain_number(text);
    if (!digits || digits->find_first_of("xXpP") != std::string::npos) return std::nullopt;
    double value = 0;
    const char* end = digits->data() + digits->size();
    const auto result = std::from_chars(digits->data(), end, value);
    if (digits->empty() || result.ptr != end) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) return std::nullopt;
    return result.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> integer_of(std::string_view text, int64_t base) {
    auto digits = plain_number(text);
    if (!digits || base < 2 || base > 36) return std::nullopt;
    const bool is_negative = digits->starts_with('-');
    std::string_view rest = std::string_view(*digits).substr(is_negative ? 1 : 0);
    for (const auto& [prefix, of] : {std::pair<std::string_view, int64_t>{"0x", 16},
                                     {"0X", 16},
                                     {"0o", 8},
                                     {"0O", 8},
                                     {"0b", 2},
                                     {"0B", 2}})
        if (base == of && rest.starts_with(prefix)) rest.remove_prefix(2);
    if (rest.empty() || rest.front() == '-') return std::nullopt;
    const std::string whole = (is_negative ? "-" : "") + std::string(rest);
    int64_t value = 0;
    const char* end = whole.data() + whole.size();
    const auto result = std::from_chars(whole.data(), end, value, static_cast<int>(base));
    return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> truncated(double value) {
    if (!(std::fabs(value) < 9.2e18)) return std::nullopt;
    return static_cast<int64_t>(value);
}

Value int_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "int", given, {"default", "base"});
    refuse_undefined(context, input);
    std::optional<int64_t> result;
    if (input.is_integer()) {
        result = input.integer();
    } else if (input.is_number()) {
        result = truncated(input.real());
        if (!result && std::isfinite(input.real())) context.fail("an integer does not fit into 64 bits");
    } else if (const Text* text = input.text()) {
        result = integer_of(text->bytes(), bound.integer_or(1, 10));
        if (const auto real = result ? std::nullopt : real_of(text->bytes())) {
            result = truncated(*real);
            if (!result && std::isfinite(*real)) context.fail("an integer does not fit into 64 bits");
        }
    }
    return result ? Value::of(*result) : bound.value_or(0, Value::of(int64_t{0}));
}

Value float_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "float", given, {"default"});
    refuse_undefined(context, input);
    if (input.is_number()) return Value::of(input.real());
    const std::optional<double> result =
        input.text() != nullptr ? real_of(input.text()->bytes()) : std::nullopt;
    return result ? Value::of(*result) : bound.value_or(0, Value::of(0.0));
}

/// Python rounds halves of the exact decimal value to even; `ceil` and `floor` scale first.
Value round_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "round", given, {"precision", "method"});
    const int64_t precision = bound.integer_or(0, 0);
    const std::string method = bound.text_or(1, "common").bytes();
    if (!input.is_number()) {
        refuse_undefined(context, input);
        context.fail(fmt::format("`round` cannot have {}", described(input)));
    }
    if (precision < -300 || precision > 300) context.fail("`round` takes -300 to 300 digits");
    const double value = input.real();
    if (method == "ceil" || method == "floor") {
        const double scale = std::pow(10.0, static_cast<double>(precision));
        return Value::of((method == "ceil" ? std::ceil(value * scale) : std::floor(value * scale)) / scale);
    }
    if (method != "common") context.fail("the method of `round` is common, ceil or floor");
    if (input.is_integer()) {
        if (precision >= 0) return Value::of(input.integer());
        context.fail("`round` of an integer to tens is not supported");
    }
    if (!std::isfinite(value)) return Value::of(value);
    if (precision < 0) context.fail("`round` to tens is not supported");
    return Value::of(std::stod(fmt::format("{:.{}f}", value, precision)));
}

Value default_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "default", given, {"default_value", "boolean"});
    if (input.is_undefined() || (bound.boolean_or(1, false) && !is_true(input)))
        return bound.value_or(0, Value::text(""));
    return input;
}

}  // namespace

const std::vector<NamedFilter>& number_filters() {
    static const std::vector<NamedFilter> filters = {
        {"abs", abs_filter},     {"d", default_filter}, {"default", default_filter},
        {"float", float_filter}, {"int", int_filter},   {"round", round_filter},
    };
    return filters;
}

}  // namespace tessera::jinja
