#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "run/jinja/text.h"

namespace tessera::jinja {

class Value;
class Context;

/// A missing name, attribute or item. It prints as nothing and iterates as nothing; every other use is an
/// error that names it.
struct Undefined {
    std::string name;
};
struct None {};

enum class ListKind { kList, kTuple, kGenerator, kView, kRange };
struct List;
struct Dict;
struct Namespace;
struct Loop;
struct Callable;

/// A value of a template. All but namespaces and loops are immutable, as in the sandbox of `transformers`.
class Value {
public:
    using Variant =
        std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const Text>,
                     std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
                     std::shared_ptr<Loop>, std::shared_ptr<const Callable>>;

    Value() : variant_(Undefined{}) {}
    Value(Variant variant) : variant_(std::move(variant)) {}
    static Value none() { return Value(None{}); }
    static Value undefined(std::string name) { return Value(Undefined{std::move(name)}); }
    static Value of(bool value) { return Value(value); }
    static Value of(int64_t value) { return Value(value); }
    static Value of(double value) { return Value(value); }
    static Value of(Text text) { return Value(std::make_shared<const Text>(std::move(text))); }
    /// A text of the template, or of its caller.
    static Value text(std::string_view bytes) { return of(Text(std::string(bytes))); }
    /// A text of a message.
    static Value foreign(std::string_view bytes) { return of(Text(std::string(bytes), Origin::kForeign)); }
    static Value list(std::vector<Value> items, ListKind kind = ListKind::kList);
    static Value dict(std::vector<std::pair<Value, Value>> items);
    /// A mapping from names to values.
    static Value object(const std::vector<std::pair<std::string, Value>>& items);

    const Variant& variant() const { return variant_; }
    bool is_undefined() const { return std::holds_alternative<Undefined>(variant_); }
    bool is_none() const { return std::holds_alternative<None>(variant_); }
    const bool* boolean() const { return std::get_if<bool>(&variant_); }
    const Text* text() const { return pointee<const Text>(); }
    const List* list() const { return pointee<const List>(); }
    const Dict* dict() const { return pointee<const Dict>(); }
    Namespace* as_namespace() const { return pointee<Namespace>(); }
    std::shared_ptr<Loop> loop() const;
    const Callable* callable() const { return pointee<const Callable>(); }
    /// Booleans are integers, as in Python.
    bool is_integer() const { return boolean() != nullptr || std::holds_alternative<int64_t>(variant_); }
    bool is_number() const { return is_integer() || std::holds_alternative<double>(variant_); }
    int64_t integer() const;  ///< @pre is_integer()
    double real() const;      ///< @pre is_number()

private:
    template <typename T>
    T* pointee() const {
        const auto* held = std::get_if<std::shared_ptr<T>>(&variant_);
        return held == nullptr ? nullptr : held->get();
    }

    Variant variant_;
};

/// Items in order. A generator is the lazy result of `map`, `select` and the like, which can be walked
/// through once; a view is the result of `items()`, which has no indices.
struct List {
    using Kind = ListKind;
    Kind kind = Kind::kList;
    mutable std::vector<Value> items;  ///< changes only when a generator is walked through
    int64_t depth = 1;                 ///< of values inside each other
};

/// In the order of insertion. Keys are texts, numbers, booleans, none, or tuples of these.
struct Dict {
    std::vector<std::pair<Value, Value>> items;
    int64_t depth = 1;
};

/// An object that templates may change; only such objects can contain themselves.
struct Mutable {
    virtual ~Mutable() = default;
    virtual void clear() = 0;
};

/// `namespace(...)`.
struct Namespace final : Mutable {
    std::vector<std::pair<std::string, Value>> attributes;
    Namespace();
    ~Namespace() override;
    void clear() override;
};

/// `loop` inside a `for`.
struct Loop final : Mutable {
    std::vector<Value> items;
    size_t index = 0;
    int64_t depth = 1;
    std::vector<Value> last_changed;
    bool was_changed = false;
    Loop();
    ~Loop() override;
    void clear() override;
};

/// The arguments of a call.
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

/// A macro, a function or a bound method.
struct Callable {
    std::string name;
    std::function<Value(Context&, Arguments)> call;
    int64_t depth = 0;  ///< of the value that it is a method of
};

/// The depth of nested values. Destroying them recurses as deep, so it is limited where they are made.
int64_t depth(const Value& value);
int64_t depth(const std::vector<Value>& values);

/// Python's name of the type: "str", "int", "dict".
std::string_view type_name(const Value& value);
bool is_true(const Value& value);

/// The number as Python prints it: "1e+16", "0.1", "inf".
std::string python_float(double value);

}  // namespace tessera::jinja
