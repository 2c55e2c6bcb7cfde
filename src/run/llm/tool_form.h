#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "run/llm/chat_template.h"
#include "run/llm/message_value.h"
#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// Stands for a letter or digit of an id in the texts of a form.
inline constexpr char kIdCharacter = '\0';
inline constexpr size_t kIdLength = 9;

/// The marks around what a model thinks before it answers.
struct ThinkMarks {
    std::string open;
    std::string close;
    bool operator==(const ThinkMarks&) const = default;
};

/// Arguments that are no JSON object: members between fixed texts, in which strings stand as they are.
///
///     <parameter=city>\nParis\n</parameter>\n      <p name="days" string="false">3</p>
///     open            before_text  end                      before_json
struct MemberTags {
    std::string open;         ///< before the name of a member
    std::string before_text;  ///< between the name and a string
    std::string before_json;  ///< between the name and any other value; may be the same
    std::string end;          ///< behind the value

    /// A text that no string has: the end without blanks.
    std::string_view mark() const;
    bool tells_strings() const { return before_text != before_json; }
    bool operator==(const MemberTags&) const = default;
};

/// Calls as most models write them: names and JSON objects, with fixed texts around them.
///
///     <tool_call>\n{"name": "f", "arguments": {..}}\n</tool_call>\n<tool_call>\n{"name": "g", ..
///     marker     open           middle            between                             middle
///     [TOOL_CALLS]f[ARGS]{..}    <tool>f</tool>{..}    {"name": "f", "parameters": {..}}
struct CallFrame {
    std::string marker = {};  ///< begins the calls, and is nowhere in a text
    /// No mark tells calls from text: an answer is calls if, and only if, it begins with the marker.
    bool is_bare = false;
    std::string open = {};  ///< between marker and name
    std::string middle = {};
    std::vector<std::string> between =
        {};  ///< ways from the arguments to the name of the next call; may be none
    std::vector<std::string> close = {};     ///< ways to end behind the arguments; at least one
    std::vector<std::string> prefixes = {};  ///< one of them may come before the marker
    std::optional<MemberTags> tags = {};     ///< none: arguments are JSON
    std::optional<ThinkMarks> thinking = {};
    bool operator==(const CallFrame&) const = default;
};

/// OpenAI's harmony, in which an answer is several messages, each with a channel:
///
///     <|channel|>analysis<|message|>..<|end|><|start|>assistant
///     <|channel|>commentary to=functions.f <|constrain|>json<|message|>{..}<|call|>
///
/// This form is known by name: a model begins a call otherwise than its template writes it.
struct Harmony {
    bool operator==(const Harmony&) const = default;
};

using ToolForm = std::variant<CallFrame, Harmony>;

/// The values that a member may have.
enum class MemberKind { kText, kJson, kEither };
/// By function and member of its arguments, where they are written in tags.
using MemberKinds = std::map<std::string, std::map<std::string, MemberKind>>;

/// True for the characters of names in an answer.
bool is_name_character(char c);

/// The form of calls, found by rendering conversations with known calls: the template is its one definition.
/// @throws Error (kUsage) if the template does not tell the model of tools, or writes calls otherwise
ToolForm tool_form(const ChatTemplate& chat, const Tokenizer& tokenizer);

/// @throws Error if the template does not write calls
ArgumentsForm arguments_form(const ChatTemplate& chat);

/// Tokens that end an answer in this form; empty: those that end all answers.
std::optional<std::vector<TokenId>> answer_ends(const ToolForm& form, const Tokenizer& tokenizer);

}  // namespace tessera::llm
