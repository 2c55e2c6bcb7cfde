#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <utf8proc.h>

#include "run/jinja/operators.h"

// Values as texts, as Python prints them.

namespace tessera::jinja {
namespace {

/// True if `repr` shows a character as it is.
bool is_printable(int code_point) {
    if (code_point == ' ') return true;
    switch (utf8proc_category(code_point)) {
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_CO:
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
            return false;
        default:
            return true;
    }
}

std::string escaped(std::string_view character, int code_point, char quote) {
    if (code_point == '\\' || code_point == quote) return fmt::format("\\{}", static_cast<char>(code_point));
    if (code_point == '\n') return "\\n";
    if (code_point == '\r') return "\\r";
    if (code_point == '\t') return "\\t";
    if (code_point < 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(character.front()));
    if (is_printable(code_point)) return std::string(character);
    if (code_point < 0x100) return fmt::format("\\x{:02x}", code_point);
    if (code_point < 0x10000) return fmt::format("\\u{:04x}", code_point);
    return fmt::format("\\U{:08x}", code_point);
}

Text quoted(const Text& text) {
    const bool has_single = text.bytes().find('\'') != std::string::npos;
    const bool has_double = text.bytes().find('"') != std::string::npos;
    const char quote = has_single && !has_double ? '"' : '\'';
    const std::string mark(1, quote);
    Text result(mark);
    const std::string_view bytes = text.bytes();
    for (size_t at = 0; at < bytes.size();) {
        const Character next = first_character(bytes.substr(at));
        result.append(escaped(bytes.substr(at, next.size), next.code_point, quote), text.origin_at(at));
        at += next.size;
    }
    return result.append(mark);
}

Text joined(Context& context, const std::vector<Value>& items, std::string_view open,
            std::string_view close) {
    Text result{std::string(open)};
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) result.append(", ");
        result.append(representation(context, items[i]));
    }
    return result.append(close);
}

}  // namespace

Text to_text(Context& context, const Value& value) {
    if (const Text* text = value.text()) return *text;
    if (value.is_undefined()) return {};
    return representation(context, value);
}

Text representation(Context& context, const Value& value) {
    context.step();
    if (const Text* text = value.text()) {
        context.allocate(text->size());
        return quoted(*text);
    }
    if (value.is_undefined()) return Text("Undefined");
    if (value.is_none()) return Text("None");
    if (value.boolean() != nullptr) return Text(*value.boolean() ? "True" : "False");
    if (value.is_integer()) return Text(fmt::format("{}", value.integer()));
    if (value.is_number()) return Text(python_float(value.real()));
    const Context::Level level(context);
    Text result;
    if (const List* list = value.list(); list != nullptr && list->kind == List::Kind::kList) {
        result = joined(context, list->items, "[", "]");
    } else if (list != nullptr && list->kind == List::Kind::kTuple) {
        result = joined(context, list->items, "(", list->items.size() == 1 ? ",)" : ")");
    } else if (const Dict* dict = value.dict()) {
        result = Text("{");
        for (size_t i = 0; i < dict->items.size(); ++i) {
            if (i > 0) result.append(", ");
            result.append(representation(context, dict->items[i].first)).append(": ");
            result.append(representation(context, dict->items[i].second));
        }
        result.append("}");
    } else {
        context.fail(fmt::format("{} cannot be printed", described(value)));
    }
    context.allocate(result.size());
    return result;
}

}  // namespace tessera::jinja
