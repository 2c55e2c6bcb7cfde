#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/tools.h"

namespace tessera::llm {

/// Divides an answer, as it comes, into the thoughts between <think> and </think>, and the text.
///
///     push("<thi")   push("nk>hm")        push("</think>")       push("\n\nYes")
///     -> nothing     -> thought "hm"      -> end of the thought  -> text "Yes"
class ThinkSplit {
public:
    struct Part {
        bool is_thought = false;
        bool ends_thought = false;  ///< of a thought: it is complete with this part, whose text may be empty
        std::string text;
        bool operator==(const Part&) const = default;
    };

    /// `begins_inside`: the prompt already opened the block.
    explicit ThinkSplit(bool begins_inside) : is_inside_(begins_inside) {}

    std::vector<Part> push(std::string_view text);
    /// Returns the rest, when the answer ends. A thought without an end then has at least one part.
    std::vector<Part> finish();

private:
    bool is_inside_;
    std::string held_;          // may begin a mark
    bool skips_space_ = false;  // behind a thought
};

/// The same as events of an answer, in which another reader finds calls.
class ThinkReader final : public AnswerReader {
public:
    /// `calls`: null where there are none.
    explicit ThinkReader(bool begins_inside, std::shared_ptr<AnswerReader> calls = nullptr)
        : split_(begins_inside), calls_(std::move(calls)) {}

    std::vector<AnswerEvent> push(std::string_view piece) override;
    std::vector<AnswerEvent> finish() override;

private:
    std::vector<AnswerEvent> divide(const std::vector<AnswerEvent>& events);

    ThinkSplit split_;
    std::shared_ptr<AnswerReader> calls_;
};

/// True if a prompt ends where thinking has begun: some templates open the block themselves.
bool ends_in_thinking(std::string_view prompt);

}  // namespace tessera::llm
