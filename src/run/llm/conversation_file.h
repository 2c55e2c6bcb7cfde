#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/chat.h"

namespace tessera::llm {

/// A conversation as a file: JSON with the name of the model and the messages.
std::string print_conversation(const std::string& model, const std::vector<ChatMessage>& messages);

/// @throws Error naming `where` for a file that is no conversation, or has a role that `chat` does not know:
/// roles are part of what a template says, and not of what a user says
std::vector<ChatMessage> parse_conversation(std::string_view json, const std::string& where);
std::vector<ChatMessage> read_conversation(const std::filesystem::path& file);

}  // namespace tessera::llm
