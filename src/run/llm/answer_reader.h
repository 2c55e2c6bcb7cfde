#pragma once

#include <memory>

#include "run/llm/tool_form.h"
#include "tessera/tools.h"

namespace tessera::llm {

/// Reads an answer in this form. `is_thinking`: the prompt has opened the block of thoughts. `kinds`: of
/// members in tags; a call with others is none.
std::unique_ptr<AnswerReader> answer_reader(const ToolForm& form, bool is_thinking, MemberKinds kinds = {});

/// The two of them.
std::unique_ptr<AnswerReader> frame_reader(const CallFrame& frame, bool is_thinking, MemberKinds kinds);
std::unique_ptr<AnswerReader> harmony_reader();

}  // namespace tessera::llm
