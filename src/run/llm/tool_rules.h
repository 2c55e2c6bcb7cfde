#pragma once

#include <span>
#include <string>

#include "run/grammar/rule_set.h"
#include "run/llm/tokenizer.h"
#include "run/llm/tool_form.h"
#include "tessera/tools.h"

namespace tessera::llm {

struct ToolRules {
    grammar::RuleSet grammar;
    MemberKinds kinds = {};  ///< of the functions that may be called
};

/// The grammar of an answer that may call functions: text without the form's marker, or calls of the chosen
/// functions with arguments of their schemas, behind text or alone. Marks of the form that are special tokens
/// of the vocabulary come as such, and no other special ones but those of thinking.
///
///     text <tool_call> .. </tool_call>      text goes over into calls at the marker, and never back
///
/// `is_thinking`: the prompt has opened the block of thoughts.
/// @throws Error (kUsage) for functions without a name, of one name or too many, for a choice that names none
/// of them, and for a schema that grammars do not follow
ToolRules tool_rules(const ToolForm& form, std::span<const Tool> tools, const ToolChoice& choice,
                     bool is_thinking, const Tokenizer& tokenizer);

}  // namespace tessera::llm
