#include "cli/serve/read_grammar.h"

#include <string>

#include <fmt/core.h>

#include "cli/serve/api_error.h"
#include "cli/serve/parse_fields.h"
#include "run/grammar/schema_value.h"
#include "support/error.h"

namespace tessera::serve {
namespace {

template <typename Read>
Grammar read_or_refuse(const JsonCursor& field, Read&& read) {
    try {
        return read();
    } catch (const Error& error) {
        throw ApiError{.message = error.what(), .param = field.place(), .code = "invalid_grammar"};
    }
}

/// The schema under these keys, in the order in which it was written.
std::string schema_text(std::string_view body, const std::vector<std::string_view>& keys) {
    const auto bounds =
        JsonBounds{.bytes = body.size(), .values = body.size(), .depth = 64, .word = body.size()};
    const grammar::SchemaValue document = grammar::parse_schema_value(body, "body", bounds);
    const grammar::SchemaValue* value = &document;
    for (const std::string_view key : keys) value = value->find(key);
    return value->json();
}

std::optional<Grammar> read_format(const JsonCursor& field, std::string_view body) {
    const JsonCursor type = field.at("type");
    const std::string name = type.string();
    if (name == "text") return std::nullopt;
    if (name == "json_object") {
        // As clients of llama.cpp write it.
        const auto schema = field.find("schema");
        return schema ? read_schema(*schema, body, {"response_format", "schema"}) : Grammar::json_object();
    }
    if (name != "json_schema") type.fail_expected("text, json_object or json_schema");
    const JsonCursor format = field.at("json_schema");
    for (const char* ignored : {"name", "description", "strict"}) (void)format.find(ignored);
    const auto schema = format.find("schema");
    return schema ? read_schema(*schema, body, {"response_format", "json_schema", "schema"})
                  : Grammar::json_object();
}

}  // namespace

Grammar read_schema(const JsonCursor& schema, std::string_view body,
                    const std::vector<std::string_view>& keys) {
    if (!schema.is_object()) schema.fail_expected("an object");
    return read_or_refuse(schema,
                          [&] { return Grammar::json_schema(schema_text(body, keys), schema.place()); });
}

std::optional<Grammar> read_grammar(const JsonCursor& root, std::string_view body) {
    std::optional<Grammar> format;
    const auto once = [&](const JsonCursor& field) {
        if (format) refuse_field(field, "beside another grammar or schema: send one of them");
    };
    if (const auto field = root.find("response_format")) format = read_format(*field, body);
    // llama.cpp's fields.
    if (const auto field = root.find("json_schema")) {
        once(*field);
        format = read_schema(*field, body, {"json_schema"});
    }
    if (const auto field = root.find("grammar")) {
        once(*field);
        const std::string text = field->string();
        format = read_or_refuse(*field, [&] { return Grammar::gbnf(text); });
    }
    return format;
}

}  // namespace tessera::serve
