#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/attribute_path.h"
#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"

// Filters of lists, mappings and characters that keep the order.

namespace tessera::jinja {
namespace {

Value attr_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "attr", given, {"name"});
    (void)bound.at(0);
    const std::string name = bound.text_or(0, "").bytes();
    refuse_undefined(context, input);
    // Attributes alone: members of a mapping are none.
    if (input.dict() != nullptr) {
        const auto method = find_method(context, input, name);
        return method ? *method : Value::undefined(name);
    }
    return attribute(context, input, name);
}

Value batch_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "batch", given, {"linecount", "fill_with"});
    (void)bound.at(0);
    const int64_t size = bound.integer_or(0, 1);
    if (size < 1) context.fail("`batch` needs a size of at least 1");
    std::vector<Value> batches;
    std::vector<Value> batch;
    for (Value& each : iterate(context, input)) {
        batch.push_back(std::move(each));
        if (static_cast<int64_t>(batch.size()) < size) continue;
        batches.push_back(context.make(std::exchange(batch, {})));
    }
    if (!batch.empty()) {
        if (bound.has(1) && !bound.at(1).is_none()) {
            context.allocate(static_cast<size_t>(std::min<int64_t>(size, int64_t{1} << 40)) * kValueBytes);
            batch.resize(static_cast<size_t>(size), bound.at(1));
        }
        batches.push_back(context.make(std::move(batch)));
    }
    return context.make(std::move(batches), List::Kind::kGenerator);
}

Value first_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "first", given, {});
    const List* list = input.list();
    if (list != nullptr && list->kind == List::Kind::kGenerator) {
        if (list->items.empty()) return Value::undefined("the first of no items");
        Value first = list->items.front();
        list->items.erase(list->items.begin());
        return first;
    }
    const std::vector<Value> items = iterate(context, input);
    return items.empty() ? Value::undefined("the first of no items") : items.front();
}

Value last_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "last", given, {});
    const List* list = input.list();
    if (list != nullptr && list->kind == List::Kind::kGenerator)
        context.fail("a generator cannot be read from its end", "make it a list first: `list | last`");
    const std::vector<Value> items = iterate(context, input);
    return items.empty() ? Value::undefined("the last of no items") : items.back();
}

Value items_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "items", given, {});
    if (input.is_undefined()) return context.make(std::vector<Value>{}, List::Kind::kGenerator);
    if (input.dict() == nullptr)
        context.fail(fmt::format("`items` is for mappings, not for {}", described(input)));
    std::vector<Value> pairs;
    for (const auto& [key, value] : input.dict()->items)
        pairs.push_back(context.make({key, value}, List::Kind::kTuple));
    return context.make(std::move(pairs), List::Kind::kGenerator);
}

Value join_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "join", given, {"d", "attribute"});
    const Text separator = bound.has(0) ? to_text(context, bound.at(0)) : Text();
    const bool has_path = bound.has(1) && !bound.at(1).is_none();
    Text result;
    bool is_first = true;
    for (const Value& each : iterate(context, input)) {
        if (!std::exchange(is_first, false)) {
            context.allocate(separator.size());
            result.append(separator);
        }
        const Text part =
            to_text(context, has_path ? AttributePath(context, bound.at(1)).of(context, each) : each);
        context.allocate(part.size());
        result.append(part);
    }
    return context.make(std::move(result));
}

Value length_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "length", given, {});
    return Value::of(length(context, input));
}

Value list_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "list", given, {});
    return context.make(iterate(context, input));
}

Value reverse_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "reverse", given, {});
    if (input.text() != nullptr)
        return slice(context, input, Value::none(), Value::none(), Value::of(int64_t{-1}));
    const List* list = input.list();
    if (list != nullptr && list->kind == List::Kind::kGenerator) {
        std::vector<Value> items = iterate(context, input);
        std::reverse(items.begin(), items.end());
        return context.make(std::move(items));
    }
    std::vector<Value> items = iterate(context, input);
    std::reverse(items.begin(), items.end());
    return context.make(std::move(items), List::Kind::kGenerator);
}

Value slice_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "slice", given, {"slices", "fill_with"});
    (void)bound.at(0);
    const int64_t count = bound.integer_or(0, 1);
    if (count < 1) context.fail("`slice` needs at least 1 slice");
    const std::vector<Value> items = iterate(context, input);
    const auto size = static_cast<int64_t>(items.size());
    const int64_t each = size / count;
    const int64_t longer = size % count;
    std::vector<Value> slices;
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t length = each + (i < longer ? 1 : 0);
        std::vector<Value> part(items.begin() + at, items.begin() + at + length);
        if (bound.has(1) && !bound.at(1).is_none() && i >= longer) part.push_back(bound.at(1));
        slices.push_back(context.make(std::move(part)));
        at += length;
    }
    return context.make(std::move(slices), List::Kind::kGenerator);
}

}  // namespace

const std::vector<NamedFilter>& sequence_filters() {
    static const std::vector<NamedFilter> filters = {
        {"attr", attr_filter},       {"batch", batch_filter},   {"count", length_filter},
        {"first", first_filter},     {"items", items_filter},   {"join", join_filter},
        {"last", last_filter},       {"length", length_filter}, {"list", list_filter},
        {"reverse", reverse_filter}, {"slice", slice_filter},
    };
    return filters;
}

}  // namespace tessera::jinja
