#pragma once

#include <string_view>

#include "cli/conversation.h"

namespace tessera::cli {

/// The outcome of a line that begins with a slash.
enum class CommandResult { kDone, kFailed, kExit };

/// Runs "/help", "/save FILE" and their like. A fault is said on stderr.
CommandResult run_command(std::string_view line, Conversation& conversation, const std::string& model);

}  // namespace tessera::cli
