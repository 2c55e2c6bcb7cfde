#include "run/jinja/attribute_path.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

namespace tessera::jinja {

AttributePath::AttributePath(Context& context, const Value& path) {
    if (path.is_integer()) {
        parts_.push_back(path);
        return;
    }
    if (path.text() == nullptr)
        context.fail(fmt::format("an attribute is {}, expected a text", described(path)));
    for (const Text& part : split(context, *path.text(), Text("."), -1)) {
        const std::string& name = part.bytes();
        const bool is_number = !name.empty() && std::all_of(name.begin(), name.end(),
                                                            [](char c) { return c >= '0' && c <= '9'; });
        int64_t number = 0;
        if (is_number && std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
            parts_.push_back(Value::of(number));
        else
            parts_.push_back(Value::of(part));
    }
}

Value AttributePath::of(Context& context, const Value& whole) const {
    Value value = whole;
    for (const Value& part : parts_) value = item(context, value, part);
    return value;
}

Value without_case(Context& context, const Value& value) {
    return value.text() == nullptr ? value : context.make(with_case(context, *value.text(), Case::kLower));
}

}  // namespace tessera::jinja
