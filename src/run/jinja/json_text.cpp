#include "run/jinja/json_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/operators.h"

namespace tessera::jinja {
namespace {

std::string escaped_unit(int unit) {
    return fmt::format("\\u{:04x}", unit);
}

std::string escaped_character(std::string_view character, int c, bool ascii) {
    switch (c) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        case '\f':
            return "\\f";
        case '\b':
            return "\\b";
        default:
            break;
    }
    if (c >= 0 && c < 0x20) return escaped_unit(c);
    if (!ascii || (c >= 0 && c < 0x7f)) return std::string(character);
    if (c < 0) return escaped_unit(0xfffd);
    if (c < 0x10000) return escaped_unit(c);
    return escaped_unit(0xd800 + ((c - 0x10000) >> 10)) + escaped_unit(0xdc00 + ((c - 0x10000) & 0x3ff));
}

class Writer {
public:
    Writer(Context& context, const JsonForm& form) : context_(context), form_(form) {}

    Text run(const Value& value) {
        write(value, 0);
        return std::move(text_);
    }

private:
    void write(const Value& value, int level) {
        context_.step();
        if (const Text* text = value.text()) return quote(*text);
        if (value.is_none()) return put("null");
        if (value.boolean() != nullptr) return put(*value.boolean() ? "true" : "false");
        if (value.is_integer()) return put(fmt::format("{}", value.integer()));
        if (value.is_number()) return put(number(value.real()));
        const Context::Level nesting(context_);
        const List* list = value.list();
        if (list != nullptr && (list->kind == List::Kind::kList || list->kind == List::Kind::kTuple)) {
            put("[");
            for (size_t i = 0; i < list->items.size(); ++i) {
                begin_item(i, level + 1);
                write(list->items[i], level + 1);
            }
            return end(list->items.empty(), level, "]");
        }
        if (const Dict* dict = value.dict()) return object(*dict, level);
        context_.fail(fmt::format("{} cannot be written as JSON", described(value)));
    }

    void object(const Dict& dict, int level) {
        auto members = dict.items;
        if (form_.sorts_keys)
            std::stable_sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
                return order(context_, a.first, b.first) < 0;
            });
        put("{");
        for (size_t i = 0; i < members.size(); ++i) {
            begin_item(i, level + 1);
            key(members[i].first);
            append(form_.key_separator);
            write(members[i].second, level + 1);
        }
        end(members.empty(), level, "}");
    }

    void key(const Value& key) {
        if (const Text* text = key.text()) return quote(*text);
        if (key.is_none()) return put("\"null\"");
        if (key.boolean() != nullptr) return put(*key.boolean() ? "\"true\"" : "\"false\"");
        if (key.is_integer()) return put(fmt::format("\"{}\"", key.integer()));
        if (key.is_number()) return put(fmt::format("\"{}\"", number(key.real())));
        context_.fail(fmt::format("{} cannot be a key in JSON", described(key)));
    }

    static std::string number(double value) {
        const std::string text = python_float(value);
        return text == "nan" ? "NaN" : text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text;
    }

    void quote(const Text& text) {
        put("\"");
        const std::string_view bytes = text.bytes();
        context_.allocate(bytes.size());
        for (size_t at = 0; at < bytes.size();) {
            const Character next = first_character(bytes.substr(at));
            text_.append(escaped_character(bytes.substr(at, next.size), next.code_point, form_.ascii),
                         text.origin_at(at));
            at += next.size;
        }
        put("\"");
    }

    void begin_item(size_t number, int level) {
        if (number > 0) append(form_.item_separator);
        new_line(level);
    }
    void end(bool is_empty, int level, std::string_view close) {
        if (!is_empty) new_line(level);
        put(close);
    }
    void new_line(int level) {
        if (!form_.is_indented) return;
        put("\n");
        for (int i = 0; i < level; ++i) append(form_.indent);
    }
    void put(std::string_view bytes) {
        context_.allocate(bytes.size());
        text_.append(bytes);
    }
    void append(const Text& text) {
        context_.allocate(text.size());
        text_.append(text);
    }

    Context& context_;
    const JsonForm& form_;
    Text text_;
};

}  // namespace

Text to_json(Context& context, const Value& value, const JsonForm& form) {
    return Writer(context, form).run(value);
}

}  // namespace tessera::jinja
