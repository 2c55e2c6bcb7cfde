#pragma once

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/tools.h"

/// Conversations, in the form that a model was trained with.
namespace tessera {

struct ChatMessage {
    std::string role;     ///< system, user, assistant, tool, or another that the model's template knows
    std::string content;  ///< special tokens that it spells, such as <|im_end|>, are ordinary text
    /// All fields of the message as a JSON object, `role` among them, in place of both of the above: for
    /// templates that read other fields, such as `tool_calls`. Empty: there are no others. Texts in it are
    /// ordinary text, too.
    std::string fields = {};
    std::vector<ToolCall> tool_calls = {};  ///< of an assistant; not beside `fields`
    std::string tool_call_id = {};  ///< of a tool: the call that `content` answers; not beside `fields`
    bool operator==(const ChatMessage&) const = default;
};

/// The settings that turn a conversation into a prompt.
struct ChatSettings {
    bool begins_answer = true;  ///< the prompt ends where the assistant's next message begins
    /// Thinking before the answer, for models whose template can switch it off; unset: as the template does
    /// by itself.
    std::optional<bool> thinks = {};
    /// The time for templates that name the date; unset: that of the system, in its time zone.
    std::function<std::tm()> now = {};
    /// A template in Jinja2's language instead of the model's own; empty: its own.
    std::string chat_template = {};
    std::vector<Tool> tools = {};  ///< that the prompt describes; the template must know tools
};

}  // namespace tessera
