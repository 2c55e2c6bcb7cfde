#include "run/jinja/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "support/error.h"

namespace tessera::jinja {

Namespace::Namespace() = default;
Namespace::~Namespace() = default;
void Namespace::clear() {
    attributes.clear();
}

Loop::Loop() = default;
Loop::~Loop() = default;
void Loop::clear() {
    last_changed.clear();
}

Value Value::list(std::vector<Value> items, List::Kind kind) {
    const int64_t levels = tessera::jinja::depth(items) + 1;
    return Value(std::make_shared<const List>(List{kind, std::move(items), levels}));
}

Value Value::dict(std::vector<std::pair<Value, Value>> items) {
    int64_t levels = 0;
    for (const auto& [key, value] : items) levels = std::max({levels, depth(key), depth(value)});
    return Value(std::make_shared<const Dict>(Dict{std::move(items), levels + 1}));
}

Value Value::object(const std::vector<std::pair<std::string, Value>>& items) {
    std::vector<std::pair<Value, Value>> members;
    for (const auto& [name, value] : items) members.emplace_back(Value::text(name), value);
    return dict(std::move(members));
}

std::shared_ptr<Loop> Value::loop() const {
    const auto* held = std::get_if<std::shared_ptr<Loop>>(&variant_);
    return held == nullptr ? nullptr : *held;
}

int64_t Value::integer() const {
    TESSERA_CHECK(is_integer());
    return boolean() != nullptr ? (*boolean() ? 1 : 0) : std::get<int64_t>(variant_);
}

double Value::real() const {
    const double* real = std::get_if<double>(&variant_);
    return real != nullptr ? *real : static_cast<double>(integer());
}

int64_t depth(const Value& value) {
    if (const List* list = value.list()) return list->depth;
    if (const Dict* dict = value.dict()) return dict->depth;
    if (const auto loop = value.loop()) return loop->depth;
    if (const Callable* callable = value.callable()) return callable->depth;
    return 0;
}

int64_t depth(const std::vector<Value>& values) {
    int64_t deepest = 0;
    for (const Value& value : values) deepest = std::max(deepest, depth(value));
    return deepest;
}

std::string_view type_name(const Value& value) {
    if (const List* list = value.list()) {
        constexpr std::array<std::string_view, 5> kKinds = {"list", "tuple", "generator", "dict_items",
                                                            "range"};
        return kKinds.at(static_cast<size_t>(list->kind));
    }
    constexpr std::array<std::string_view, 11> kNames = {"Undefined", "NoneType",    "bool",    "int",
                                                         "float",     "str",         "list",    "dict",
                                                         "Namespace", "LoopContext", "function"};
    return kNames.at(value.variant().index());
}

bool is_true(const Value& value) {
    if (value.is_undefined() || value.is_none()) return false;
    if (value.is_number()) return value.real() != 0;
    if (const Text* text = value.text()) return !text->empty();
    if (const List* list = value.list()) return list->kind == List::Kind::kGenerator || !list->items.empty();
    if (const Dict* dict = value.dict()) return !dict->items.empty();
    return true;
}

std::string python_float(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer{};
    const auto done =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    std::string shortest(buffer.data(), done.ptr);
    const size_t mark = shortest.find('e');
    const int exponent = std::stoi(shortest.substr(mark + 1));
    // Python writes exponents from 16 on and below -4.
    if (exponent >= 16 || exponent < -4) return shortest;
    const auto plain =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    std::string text(buffer.data(), plain.ptr);
    return text.find('.') == std::string::npos ? text + ".0" : text;
}

}  // namespace tessera::jinja
