#pragma once

#include <string_view>
#include <vector>

#include "support/json.h"
#include "tessera/tools.h"

namespace tessera::serve {

/// The functions that a chat may call, and which of them.
struct ToolRequest {
    std::vector<Tool> tools = {};
    ToolChoice choice = {};
};

/// `tools`, `tool_choice` and `parallel_tool_calls` of a chat, or of /v1/responses, whose functions are not
/// within a `function`. `body`: the text of the document, in which the
/// members of a schema have their order. @throws ApiError
ToolRequest read_tools(const JsonCursor& root, std::string_view body);

/// `tool_calls` of a message. @throws ApiError
std::vector<ToolCall> read_tool_calls(const JsonCursor& calls);
/// The arguments of one: the text of a JSON object, or an empty one. @throws Error
std::string read_arguments(const JsonCursor& arguments);

/// Refuses what came before tools, by name. @throws ApiError
void refuse_functions(const JsonCursor& object);

}  // namespace tessera::serve
