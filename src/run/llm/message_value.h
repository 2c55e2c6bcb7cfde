#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "run/jinja/value.h"
#include "tessera/chat.h"

namespace tessera::llm {

/// The form in which a template takes the arguments of a call.
enum class ArgumentsForm { kObject, kText };

/// A message as templates see it. Whatever it says is foreign, but its role, which is the program's word:
/// some templates make a token of it, "<|" ~ role ~ "|>".
/// @throws Error for `fields` that are no JSON object with a role, and for arguments that are no object
jinja::Value message_value(const ChatMessage& message, ArgumentsForm arguments = ArgumentsForm::kObject);

/// Those of a conversation. A tool's message also has the `name` of the function that it answers.
std::vector<jinja::Value> message_values(std::span<const ChatMessage> messages, ArgumentsForm arguments);

/// A function as templates see it: {"type": "function", "function": {"name": .., "description": ..,
/// "parameters": ..}}, which is what `transformers` gives them. All of it is foreign.
/// @throws Error for parameters that are no JSON object
jinja::Value tool_value(const Tool& tool);

}  // namespace tessera::llm
