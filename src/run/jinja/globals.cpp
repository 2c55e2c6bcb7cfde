#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/format_time.h"
#include "run/jinja/operators.h"

// Functions that every template can call.

namespace tessera::jinja {
namespace {

/// As many as the sandbox of Jinja2 allows.
constexpr int64_t kLongestRange = 100'000;

Value range(Context& context, const Arguments& given) {
    const BoundArguments bound(context, "range", given, {"start", "stop", "step"});
    (void)bound.at(0);
    const int64_t start = bound.has(1) ? bound.integer_or(0, 0) : 0;
    const int64_t stop = bound.has(1) ? bound.integer_or(1, 0) : bound.integer_or(0, 0);
    const int64_t step = bound.integer_or(2, 1);
    if (step == 0) context.fail("the step of `range` is 0");
    std::vector<Value> items;
    int64_t at = start;
    while (step > 0 ? at < stop : at > stop) {
        if (static_cast<int64_t>(items.size()) == kLongestRange)
            context.fail(fmt::format("`range` gives more than {} numbers", kLongestRange));
        items.push_back(Value::of(at));
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    context.step(static_cast<int64_t>(items.size()));
    return context.make(std::move(items), List::Kind::kRange);
}

/// Members from mappings and names.
std::vector<std::pair<Value, Value>> members(Context& context, const Arguments& given,
                                             std::string_view function) {
    std::vector<std::pair<Value, Value>> items;
    const auto set = [&](const Value& key, const Value& value) {
        const auto same = [&](const auto& member) { return equals(context, member.first, key); };
        const auto known = std::find_if(items.begin(), items.end(), same);
        if (known != items.end())
            known->second = value;
        else
            items.emplace_back(key, value);
    };
    if (given.positional.size() > 1) context.fail(fmt::format("`{}` takes one mapping", function));
    for (const Value& source : given.positional) {
        if (source.dict() != nullptr) {
            items = source.dict()->items;
            continue;
        }
        for (const Value& pair : iterate(context, source)) {
            const std::vector<Value> parts = iterate(context, pair);
            if (parts.size() != 2) context.fail(fmt::format("`{}` needs pairs", function));
            check_key(context, parts[0]);
            set(parts[0], parts[1]);
        }
    }
    for (const auto& [name, value] : given.named) set(Value::text(name), value);
    return items;
}

Value make_dict(Context& context, const Arguments& given) {
    return context.make_dict(members(context, given, "dict"));
}

Value make_namespace(Context& context, const Arguments& given) {
    const auto space = std::make_shared<Namespace>();
    for (const auto& [key, value] : members(context, given, "namespace")) {
        if (key.text() == nullptr) context.fail("an attribute of a namespace is named by a text");
        space->attributes.emplace_back(key.text()->bytes(), value);
    }
    context.allocate(sizeof(Namespace) + space->attributes.size() * 2 * kValueBytes);
    context.adopt(space);
    return Value(space);
}

Value raise_exception(Context& context, const Arguments& given) {
    const BoundArguments bound(context, "raise_exception", given, {"message"});
    context.fail("the model's template refuses the conversation: " + to_text(context, bound.at(0)).bytes());
}

Value strftime_now(Context& context, const Arguments& given) {
    const BoundArguments bound(context, "strftime_now", given, {"format"});
    (void)bound.at(0);
    const std::string form = bound.text_or(0, "").bytes();
    if (!context.now()) context.fail("`strftime_now` needs a clock, and there is none");
    context.allocate(longest_time(form));
    return context.make(Text(format_time(form, context.now()())));
}

struct NamedFunction {
    std::string_view name;
    Value (*function)(Context&, const Arguments&);
};

constexpr NamedFunction kFunctions[] = {
    {"dict", make_dict}, {"namespace", make_namespace},  {"raise_exception", raise_exception},
    {"range", range},    {"strftime_now", strftime_now},
};

}  // namespace

Value global_function(std::string_view name) {
    for (const NamedFunction& each : kFunctions)
        if (each.name == name)
            return Value(std::make_shared<const Callable>(Callable{std::string(name), each.function, 0}));
    return {};
}

}  // namespace tessera::jinja
