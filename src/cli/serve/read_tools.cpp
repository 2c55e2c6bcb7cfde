#include "cli/serve/read_tools.h"

#include <string>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/serve/parse_fields.h"
#include "run/grammar/schema_value.h"

namespace tessera::serve {
namespace {

void expect_function(const JsonCursor& type) {
    if (type.string() == "custom")
        refuse_field(type, "only functions are supported: give the tool a function with one text");
    if (type.string() != "function") type.fail_expected("function");
}

/// /v1/responses has the fields of a function beside its type.
JsonCursor function_of(const JsonCursor& item) {
    expect_function(item.at("type"));
    return item.find("name") ? item : item.at("function");
}

Tool read_tool(const JsonCursor& item, const grammar::SchemaValue& written) {
    const JsonCursor function = function_of(item);
    Tool tool{.name = function.at("name").string()};
    tool.description = function.string_or("description", "");
    // Arguments are held to their schema in any case.
    (void)function.boolean_or("strict", false);
    if (const auto parameters = function.find("parameters")) {
        if (!parameters->is_object()) parameters->fail_expected("an object");
        const grammar::SchemaValue* const nested = written.find("function");
        tool.parameters = (item.find("name") ? written : *nested).find("parameters")->json();
    }
    return tool;
}

std::vector<Tool> read_list(const JsonCursor& field, std::string_view body) {
    const auto bounds =
        JsonBounds{.bytes = body.size(), .values = body.size(), .depth = 64, .word = body.size()};
    const grammar::SchemaValue document = grammar::parse_schema_value(body, "body", bounds);
    const grammar::SchemaValue& written = *document.find("tools");
    std::vector<Tool> tools;
    for (const JsonCursor& item : field.items())
        tools.push_back(read_tool(item, written.items[tools.size()]));
    return tools;
}

std::string read_name(const JsonCursor& item) {
    return function_of(item).at("name").string();
}

ToolChoice::Use read_use(const JsonCursor& field) {
    const std::string use = field.string();
    if (use == "none") return ToolChoice::Use::kNone;
    if (use == "auto") return ToolChoice::Use::kAuto;
    if (use != "required") field.fail_expected("none, auto, required or the name of a function");
    return ToolChoice::Use::kRequired;
}

void read_choice(const JsonCursor& field, ToolChoice& choice) {
    if (!field.is_object()) {
        choice.use = read_use(field);
        return;
    }
    if (field.at("type").string() == "allowed_tools") {
        const JsonCursor allowed = field.find("mode") ? field : field.at("allowed_tools");
        choice.use = read_use(allowed.at("mode"));
        for (const JsonCursor& item : allowed.at("tools").items()) choice.allowed.push_back(read_name(item));
        if (choice.allowed.empty()) allowed.at("tools").fail("is empty, expected at least one function");
        return;
    }
    choice = {.use = ToolChoice::Use::kRequired, .allowed = {read_name(field)}, .is_parallel = false};
}

}  // namespace

ToolRequest read_tools(const JsonCursor& root, std::string_view body) {
    ToolRequest request;
    if (const auto field = root.find("tools"); field && !field->is_empty())
        request.tools = read_list(*field, body);
    request.choice.is_parallel = root.boolean_or("parallel_tool_calls", true);
    const auto choice = root.find("tool_choice");
    if (choice) read_choice(*choice, request.choice);
    if (choice && request.tools.empty() && request.choice.use == ToolChoice::Use::kRequired)
        choice->fail("asks for a call, and there are no tools");
    return request;
}

std::vector<ToolCall> read_tool_calls(const JsonCursor& calls) {
    std::vector<ToolCall> result;
    for (const JsonCursor& item : calls.items()) {
        expect_function(item.at("type"));
        const JsonCursor function = item.at("function");
        result.push_back(
            {item.at("id").string(), function.at("name").string(), read_arguments(function.at("arguments"))});
    }
    return result;
}

std::string read_arguments(const JsonCursor& arguments) {
    std::string text = arguments.string();
    if (text.empty()) return "{}";
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || text[begin] != '{' || !nlohmann::json::accept(text))
        arguments.fail("is no text of a JSON object");
    return text;
}

void refuse_functions(const JsonCursor& object) {
    for (const auto& [name, other] : {std::pair{"functions", "tools"}, {"function_call", "tool_choice"}})
        if (const auto field = object.find(name);
            field && !field->is_empty() && !is_text(*field, "none") && !is_text(*field, "auto"))
            refuse_field(*field, fmt::format("is deprecated, and not supported: send {}", other));
}

}  // namespace tessera::serve
