#pragma once

#include <span>

#include "run/llm/chat_template.h"
#include "run/llm/tokenizer.h"
#include "tessera/tools.h"

namespace tessera::llm {

/// How the answer to a prompt of the template is generated and read where it may call functions.
/// @throws Error as tool_form and tool_rules
ToolAnswer tool_answer(const ChatTemplate& chat, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                       std::span<const Tool> tools, const ToolChoice& choice);

}  // namespace tessera::llm
