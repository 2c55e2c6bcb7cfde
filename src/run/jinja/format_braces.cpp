#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

// "{} has {0}, {name}".format(..), as Python formats it, without conversions and specifications.

namespace tessera::jinja {
namespace {

/// The values that the fields of a format stand for.
class FieldValues {
public:
    FieldValues(Context& context, const Arguments& given) : context_(context), given_(given) {}

    const Value& at(std::string_view field) {
        const bool is_number =
            !field.empty() && std::ranges::all_of(field, [](char c) { return c >= '0' && c <= '9'; });
        if (!field.empty() && !is_number) return named(field);
        if (is_number ? counted_ > 0 : has_numbers_)
            context_.fail("a format has places with and without numbers");
        has_numbers_ = has_numbers_ || is_number;
        constexpr size_t kLongest = 6;
        if (field.size() > kLongest) context_.fail("a format has more places than values");
        const size_t index = is_number ? std::stoul(std::string(field)) : counted_++;
        if (index >= given_.positional.size()) context_.fail("a format has more places than values");
        return given_.positional[index];
    }

private:
    const Value& named(std::string_view field) {
        constexpr std::string_view kParts = "!:.[";
        if (field.find_first_of(kParts) != std::string_view::npos)
            context_.fail(fmt::format("the place {{{}}} of a format is not supported", field));
        for (const auto& [name, value] : given_.named)
            if (name == field) return value;
        context_.fail(fmt::format("a format has no value of the name {}", field));
    }

    Context& context_;
    const Arguments& given_;
    size_t counted_ = 0;
    bool has_numbers_ = false;
};

}  // namespace

Value format_braces(Context& context, const Text& format, const Arguments& given) {
    const std::string_view bytes = format.bytes();
    FieldValues values(context, given);
    Text result;
    size_t at = 0;
    while (at < bytes.size()) {
        const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
        result.append(format.slice(at, brace));
        if (brace == bytes.size()) break;
        if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
            result.append(format.slice(brace, brace + 1));
            at = brace + 2;
            continue;
        }
        const size_t end = bytes.find_first_of("{}", brace + 1);
        if (bytes[brace] == '}' || end == std::string_view::npos || bytes[end] == '{')
            context.fail("a format has a brace without its other one");
        const Text text = to_text(context, values.at(bytes.substr(brace + 1, end - brace - 1)));
        context.allocate(text.size());
        result.append(text);
        at = end + 1;
    }
    return context.make(std::move(result));
}

}  // namespace tessera::jinja
