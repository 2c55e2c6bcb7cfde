#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"

// The contents of values: items, members, attributes, slices.

namespace tessera::jinja {
namespace {

Value character_at(Context& context, const Text& text, int64_t index) {
    const std::vector<size_t> offsets = character_offsets(text.bytes());
    context.step(static_cast<int64_t>(offsets.size() / 16));
    const auto count = static_cast<int64_t>(offsets.size()) - 1;
    if (index < 0) index += count;
    if (index < 0 || index >= count) return Value();
    return context.make(
        text.slice(offsets[static_cast<size_t>(index)], offsets[static_cast<size_t>(index) + 1]));
}

std::string shown_index(const Value& index) {
    if (index.text() != nullptr) return index.text()->bytes();
    return index.is_integer() ? fmt::format("[{}]", index.integer()) : std::string(type_name(index));
}

/// The attributes of `loop`.
std::optional<Value> loop_attribute(Context& context, const std::shared_ptr<Loop>& loop,
                                    const std::string& name) {
    const auto count = static_cast<int64_t>(loop->items.size());
    const auto index = static_cast<int64_t>(loop->index);
    if (name == "index") return Value::of(index + 1);
    if (name == "index0") return Value::of(index);
    if (name == "revindex") return Value::of(count - index);
    if (name == "revindex0") return Value::of(count - index - 1);
    if (name == "first") return Value::of(index == 0);
    if (name == "last") return Value::of(index + 1 == count);
    if (name == "length") return Value::of(count);
    if (name == "depth") return Value::of(int64_t{1});
    if (name == "depth0") return Value::of(int64_t{0});
    if (name == "previtem")
        return index > 0 ? loop->items[loop->index - 1] : Value::undefined("there is no previous item");
    if (name == "nextitem")
        return index + 1 < count ? loop->items[loop->index + 1] : Value::undefined("there is no next item");
    if (name == "cycle")
        return context.make_callable(name, Value(loop), [loop](Context& inner, const Arguments& arguments) {
            if (arguments.positional.empty()) inner.fail("loop.cycle needs values");
            return arguments.positional[loop->index % arguments.positional.size()];
        });
    if (name == "changed")
        return context.make_callable(name, Value(loop), [loop](Context& inner, const Arguments& arguments) {
            const std::vector<Value>& now = arguments.positional;
            const auto same = [&](const Value& a, const Value& b) { return equals(inner, a, b); };
            if (loop->was_changed && now.size() == loop->last_changed.size() &&
                std::equal(now.begin(), now.end(), loop->last_changed.begin(), same))
                return Value::of(false);
            if (!loop->was_changed) inner.adopt(loop);
            inner.allocate(now.size() * kValueBytes);
            loop->was_changed = true;
            loop->last_changed = now;
            return Value::of(true);
        });
    return std::nullopt;
}

std::optional<int64_t> bound(Context& context, const Value& value) {
    if (value.is_none()) return std::nullopt;
    if (!value.is_integer()) context.fail(fmt::format("a bound of a slice is {}", described(value)));
    return value.integer();
}

/// The indices of a slice, as by Python's `slice.indices`.
std::vector<size_t> slice_indices(Context& context, int64_t count, std::optional<int64_t> start,
                                  std::optional<int64_t> stop, int64_t step) {
    const auto clamp = [&](std::optional<int64_t> place, int64_t otherwise) {
        if (!place) return otherwise;
        const int64_t from_end = *place < 0 ? std::max<int64_t>(*place, -count - 1) + count : *place;
        return step > 0 ? std::clamp<int64_t>(from_end, 0, count)
                        : std::clamp<int64_t>(from_end, -1, count - 1);
    };
    int64_t at = clamp(start, step > 0 ? 0 : count - 1);
    const int64_t end = clamp(stop, step > 0 ? count : -1);
    std::vector<size_t> indices;
    const int64_t stride = std::clamp<int64_t>(step, -count - 1, count + 1);
    for (; step > 0 ? at < end : at > end; at += stride) indices.push_back(static_cast<size_t>(at));
    context.step(static_cast<int64_t>(indices.size()));
    return indices;
}

}  // namespace

std::vector<Value> iterate(Context& context, const Value& value) {
    if (value.is_undefined()) return {};
    std::vector<Value> items;
    if (const List* list = value.list()) {
        if (list->kind == List::Kind::kGenerator)
            items.swap(list->items);
        else
            items = list->items;
    } else if (const Dict* dict = value.dict()) {
        for (const auto& [key, member] : dict->items) items.push_back(key);
    } else if (const Text* text = value.text()) {
        const std::vector<size_t> offsets = character_offsets(text->bytes());
        context.allocate((offsets.size() + 1) * (kValueBytes + sizeof(Text)));
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            items.push_back(Value::of(text->slice(offsets[i], offsets[i + 1])));
    } else {
        context.fail(fmt::format("{} has no items", described(value)));
    }
    context.step(static_cast<int64_t>(items.size()));
    context.allocate(items.size() * kValueBytes);
    return items;
}

int64_t length(Context& context, const Value& value) {
    if (value.is_undefined()) return 0;
    if (const Text* text = value.text()) {
        context.step(static_cast<int64_t>(text->size() / 64));
        return static_cast<int64_t>(character_offsets(text->bytes()).size()) - 1;
    }
    if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->items.size());
    if (const auto loop = value.loop()) return static_cast<int64_t>(loop->items.size());
    const List* list = value.list();
    if (list == nullptr || list->kind == List::Kind::kGenerator)
        context.fail(fmt::format("{} has no length", described(value)));
    return static_cast<int64_t>(list->items.size());
}

void check_key(Context& context, const Value& key) {
    const List* list = key.list();
    if (list != nullptr && list->kind == List::Kind::kTuple) {
        const Context::Level level(context);
        for (const Value& part : list->items) check_key(context, part);
    } else if (key.text() == nullptr && !key.is_number() && !key.is_none() && !key.is_undefined()) {
        context.fail(fmt::format("{} cannot be a key", described(key)));
    }
}

const Value* find(Context& context, const Dict& dict, const Value& key) {
    if (const Text* text = key.text()) {
        context.step(static_cast<int64_t>(dict.items.size() / 4));
        for (const auto& [name, value] : dict.items)
            if (name.text() != nullptr && *name.text() == *text) return &value;
        return nullptr;
    }
    for (const auto& [name, value] : dict.items)
        if (equals(context, name, key)) return &value;
    return nullptr;
}

Value item(Context& context, const Value& value, const Value& index) {
    refuse_undefined(context, value);
    Value missing = Value::undefined(shown_index(index));
    if (const Dict* dict = value.dict()) {
        if (index.text() != nullptr || index.is_number() || index.is_none() || index.list() != nullptr ||
            index.is_undefined())
            if (const Value* member = find(context, *dict, index)) return *member;
    } else if (index.is_integer() && value.text() != nullptr) {
        Value character = character_at(context, *value.text(), index.integer());
        return character.is_undefined() ? missing : character;
    } else if (const List* list = value.list(); list != nullptr && index.is_integer()) {
        if (list->kind == List::Kind::kGenerator || list->kind == List::Kind::kView) return missing;
        const auto count = static_cast<int64_t>(list->items.size());
        const int64_t at = index.integer() < 0 ? index.integer() + count : index.integer();
        return at >= 0 && at < count ? list->items[static_cast<size_t>(at)] : missing;
    }
    if (index.text() == nullptr) return missing;
    // A text as index may also name an attribute, after the members.
    if (value.dict() != nullptr) {
        const std::optional<Value> method = find_method(context, value, index.text()->bytes());
        return method ? *method : missing;
    }
    return attribute(context, value, index.text()->bytes());
}

Value attribute(Context& context, const Value& value, const std::string& name) {
    if (value.is_undefined()) {
        const auto& undefined = std::get<Undefined>(value.variant());
        context.fail(fmt::format("`{}` is undefined, and has no `{}`", undefined.name, name));
    }
    if (const Namespace* space = value.as_namespace()) {
        for (const auto& [known, held] : space->attributes)
            if (known == name) return held;
        return Value::undefined(name);
    }
    if (const auto loop = value.loop()) {
        const std::optional<Value> found = loop_attribute(context, loop, name);
        return found ? *found : Value::undefined("loop." + name);
    }
    if (const std::optional<Value> method = find_method(context, value, name)) return *method;
    if (const Dict* dict = value.dict())
        if (const Value* member = find(context, *dict, Value::text(name))) return *member;
    if (const Callable* callable = value.callable()) {
        if (name == "name") return Value::text(callable->name);
        constexpr std::array kOfMacros = {"arguments", "caller", "catch_kwargs", "catch_varargs",
                                          "explicit_caller"};
        if (std::ranges::find(kOfMacros, name) != kOfMacros.end())
            context.fail(fmt::format("the attribute `{}` of `{}` is not supported", name, callable->name));
    }
    return Value::undefined(name);
}

Value slice(Context& context, const Value& value, const Value& start, const Value& stop, const Value& step) {
    refuse_undefined(context, value);
    const Text* text = value.text();
    const List* list = value.list();
    const bool has_indices =
        list != nullptr && list->kind != List::Kind::kGenerator && list->kind != List::Kind::kView;
    if (text == nullptr && !has_indices) context.fail(fmt::format("{} has no slices", described(value)));
    const int64_t stride = bound(context, step).value_or(1);
    if (stride == 0) context.fail("the step of a slice is 0");
    if (text != nullptr) {
        const std::vector<size_t> offsets = character_offsets(text->bytes());
        context.step(static_cast<int64_t>(offsets.size() / 16));
        const auto indices = slice_indices(context, static_cast<int64_t>(offsets.size()) - 1,
                                           bound(context, start), bound(context, stop), stride);
        if (indices.empty()) return Value::text("");
        if (stride == 1)
            return context.make(text->slice(offsets[indices.front()], offsets[indices.back() + 1]));
        Text result;
        for (const size_t i : indices) result.append(text->slice(offsets[i], offsets[i + 1]));
        return context.make(std::move(result));
    }
    std::vector<Value> items;
    for (const size_t i : slice_indices(context, static_cast<int64_t>(list->items.size()),
                                        bound(context, start), bound(context, stop), stride))
        items.push_back(list->items[i]);
    return context.make(std::move(items), list->kind);
}

}  // namespace tessera::jinja
