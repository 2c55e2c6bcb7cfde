#pragma once

#include "jinja/value.h"
#include "tessera/chat.h"

namespace tessera::llm {

/// A message as templates see it. Whatever it says is foreign, but its role, which is the program's word:
/// some templates make a token of it, "<|" ~ role ~ "|>".
/// @throws Error for `fields` that are no JSON object with a role
jinja::Value message_value(const ChatMessage& message);

}  // namespace tessera::llm
