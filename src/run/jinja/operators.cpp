#include "run/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/checked.h"

namespace tessera::jinja {
namespace {

[[noreturn]] void fail_operands(Context& context, std::string_view op, const Value& a, const Value& b) {
    refuse_undefined(context, a);
    refuse_undefined(context, b);
    context.fail(fmt::format("`{}` cannot have {} and {}", op, described(a), described(b)));
}

Value checked(Context& context, std::optional<int64_t> result) {
    if (!result) context.fail("an integer does not fit into 64 bits");
    return Value::of(*result);
}

bool both_integers(const Value& a, const Value& b) {
    return a.is_integer() && b.is_integer();
}
bool both_numbers(const Value& a, const Value& b) {
    return a.is_number() && b.is_number();
}

void refuse_zero(Context& context, const Value& divisor) {
    if (divisor.real() == 0) context.fail("division by zero");
}

bool is_repeatable(const Value& value) {
    const List* list = value.list();
    return value.text() != nullptr ||
           (list != nullptr && (list->kind == List::Kind::kList || list->kind == List::Kind::kTuple));
}

Value repeat(Context& context, const Value& value, int64_t count) {
    const size_t times = count > 0 ? static_cast<size_t>(count) : 0;
    // Counted before anything is made: the number may be anything.
    const auto reserve = [&](size_t size) {
        if (size != 0 && times > (size_t{1} << 40) / size) context.allocate(size_t{1} << 40);
        context.allocate(size * times);
    };
    if (const Text* text = value.text()) {
        reserve(text->size());
        Text result;
        for (size_t i = 0; i < times && !text->empty(); ++i) result.append(*text);
        return Value::of(std::move(result));
    }
    const List* list = value.list();
    reserve(list->items.size() * kValueBytes);
    std::vector<Value> items;
    for (size_t i = 0; i < times && !list->items.empty(); ++i)
        items.insert(items.end(), list->items.begin(), list->items.end());
    return Value::list(std::move(items), list->kind);
}

int order_of(double a, double b) {
    return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

std::string described(const Value& value) {
    if (const auto* undefined = std::get_if<Undefined>(&value.variant()))
        return fmt::format("`{}`, which is undefined", undefined->name);
    return fmt::format("a value of the type {}", type_name(value));
}

void refuse_undefined(Context& context, const Value& value) {
    if (const auto* undefined = std::get_if<Undefined>(&value.variant()))
        context.fail(fmt::format("`{}` is undefined", undefined->name));
}

bool equals(Context& context, const Value& a, const Value& b) {
    context.step();
    if (both_numbers(a, b)) return both_integers(a, b) ? a.integer() == b.integer() : a.real() == b.real();
    if (a.text() != nullptr && b.text() != nullptr) {
        context.step(static_cast<int64_t>(std::min(a.text()->size(), b.text()->size()) / 64));
        return *a.text() == *b.text();
    }
    if (a.list() != nullptr && b.list() != nullptr) {
        const List& left = *a.list();
        const List& right = *b.list();
        if (left.kind == List::Kind::kGenerator || right.kind == List::Kind::kGenerator)
            return &left == &right;
        if (left.kind != right.kind || left.items.size() != right.items.size()) return false;
        const Context::Level level(context);
        return std::equal(left.items.begin(), left.items.end(), right.items.begin(),
                          [&](const Value& x, const Value& y) { return equals(context, x, y); });
    }
    if (a.dict() != nullptr && b.dict() != nullptr) {
        if (a.dict()->items.size() != b.dict()->items.size()) return false;
        const Context::Level level(context);
        return std::all_of(a.dict()->items.begin(), a.dict()->items.end(), [&](const auto& member) {
            const Value* other = find(context, *b.dict(), member.first);
            return other != nullptr && equals(context, member.second, *other);
        });
    }
    if (a.variant().index() != b.variant().index()) return false;
    if (a.is_undefined() || a.is_none()) return true;
    if (a.as_namespace() != nullptr) return a.as_namespace() == b.as_namespace();
    if (a.loop() != nullptr) return a.loop() == b.loop();
    return a.callable() == b.callable();
}

int order(Context& context, const Value& a, const Value& b) {
    context.step();
    if (both_integers(a, b)) return a.integer() < b.integer() ? -1 : a.integer() > b.integer() ? 1 : 0;
    if (both_numbers(a, b)) return order_of(a.real(), b.real());
    if (a.text() != nullptr && b.text() != nullptr) {
        const int result = a.text()->bytes().compare(b.text()->bytes());
        return result < 0 ? -1 : result > 0 ? 1 : 0;
    }
    if (is_repeatable(a) && is_repeatable(b) && a.list() != nullptr && b.list() != nullptr &&
        a.list()->kind == b.list()->kind) {
        const auto& left = a.list()->items;
        const auto& right = b.list()->items;
        const Context::Level level(context);
        for (size_t i = 0; i < std::min(left.size(), right.size()); ++i)
            if (!equals(context, left[i], right[i])) return order(context, left[i], right[i]);
        return order_of(static_cast<double>(left.size()), static_cast<double>(right.size()));
    }
    fail_operands(context, "<", a, b);
}

bool contains(Context& context, const Value& container, const Value& wanted) {
    if (const Text* text = container.text()) {
        if (wanted.text() == nullptr) fail_operands(context, "in", wanted, container);
        context.step(static_cast<int64_t>(text->size() / 64));
        return text->bytes().find(wanted.text()->bytes()) != std::string::npos;
    }
    if (const Dict* dict = container.dict()) {
        check_key(context, wanted);
        return find(context, *dict, wanted) != nullptr;
    }
    const std::vector<Value> items = iterate(context, container);
    return std::any_of(items.begin(), items.end(),
                       [&](const Value& each) { return equals(context, each, wanted); });
}

Value add(Context& context, const Value& a, const Value& b) {
    if (both_integers(a, b)) return checked(context, checked_add(a.integer(), b.integer()));
    if (both_numbers(a, b)) return Value::of(a.real() + b.real());
    if (a.text() != nullptr && b.text() != nullptr) {
        Text joined = *a.text();
        joined.append(*b.text());
        return context.make(std::move(joined));
    }
    if (is_repeatable(a) && is_repeatable(b) && a.list() != nullptr && b.list() != nullptr &&
        a.list()->kind == b.list()->kind) {
        std::vector<Value> items = a.list()->items;
        items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
        return context.make(std::move(items), a.list()->kind);
    }
    fail_operands(context, "+", a, b);
}

Value subtract(Context& context, const Value& a, const Value& b) {
    if (both_integers(a, b)) {
        int64_t result = 0;
        if (__builtin_sub_overflow(a.integer(), b.integer(), &result)) return checked(context, std::nullopt);
        return Value::of(result);
    }
    if (both_numbers(a, b)) return Value::of(a.real() - b.real());
    fail_operands(context, "-", a, b);
}

Value multiply(Context& context, const Value& a, const Value& b) {
    if (both_integers(a, b)) return checked(context, checked_mul(a.integer(), b.integer()));
    if (both_numbers(a, b)) return Value::of(a.real() * b.real());
    if (is_repeatable(a) && b.is_integer()) return repeat(context, a, b.integer());
    if (a.is_integer() && is_repeatable(b)) return repeat(context, b, a.integer());
    fail_operands(context, "*", a, b);
}

Value divide(Context& context, const Value& a, const Value& b) {
    if (!both_numbers(a, b)) fail_operands(context, "/", a, b);
    refuse_zero(context, b);
    return Value::of(a.real() / b.real());
}

Value floor_divide(Context& context, const Value& a, const Value& b) {
    if (!both_numbers(a, b)) fail_operands(context, "//", a, b);
    refuse_zero(context, b);
    if (!both_integers(a, b)) return Value::of(std::floor(a.real() / b.real()));
    const int64_t x = a.integer();
    const int64_t y = b.integer();
    if (y == -1) return negate(context, Value::of(x));
    return Value::of(x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
}

Value remainder(Context& context, const Value& a, const Value& b) {
    if (a.text() != nullptr) {
        const List* list = b.list();
        const bool is_tuple = list != nullptr && list->kind == List::Kind::kTuple;
        // Python does not mind a list or a mapping that no place takes, nor does Jinja2 mind what is
        // undefined.
        const bool may_be_left = !is_tuple && (list != nullptr || b.dict() != nullptr || b.is_undefined());
        return format_percent(context, *a.text(), is_tuple ? list->items : std::vector<Value>{b},
                              may_be_left);
    }
    if (!both_numbers(a, b)) fail_operands(context, "%", a, b);
    refuse_zero(context, b);
    if (!both_integers(a, b)) {
        const double rest = std::fmod(a.real(), b.real());
        return Value::of(rest != 0 && (rest < 0) != (b.real() < 0) ? rest + b.real() : rest);
    }
    const int64_t y = b.integer();
    if (y == -1) return Value::of(int64_t{0});
    const int64_t rest = a.integer() % y;
    return Value::of(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
}

Value power(Context& context, const Value& a, const Value& b) {
    if (!both_numbers(a, b)) fail_operands(context, "**", a, b);
    if (!both_integers(a, b) || b.integer() < 0) {
        const double result = std::pow(a.real(), b.real());
        if (!std::isfinite(result) && std::isfinite(a.real()) && std::isfinite(b.real()))
            context.fail("a power is no finite number");
        return Value::of(result);
    }
    std::optional<int64_t> result = 1;
    int64_t base = a.integer();
    for (int64_t left = b.integer(); left > 0 && base != 1 && base != 0; --left) {
        if (base == -1) return Value::of(left % 2 == 0 ? *result : -*result);
        result = checked_mul(*result, base);
        if (!result) break;
    }
    if (base == 0 && b.integer() > 0) result = 0;
    return checked(context, result);
}

Value negate(Context& context, const Value& value) {
    if (value.is_integer()) {
        if (value.integer() == INT64_MIN) return checked(context, std::nullopt);
        return Value::of(-value.integer());
    }
    if (value.is_number()) return Value::of(-value.real());
    refuse_undefined(context, value);
    context.fail(fmt::format("`-` cannot have {}", described(value)));
}

}  // namespace tessera::jinja
