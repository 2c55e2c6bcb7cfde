#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tessera::llm {

/// Shows an answer as it comes, and folds what stands between <think> and </think> where that is asked for.
///
///     push("<thi")   push("nk>hm")    push("</think>")              push("\n\nYes")
///     -> nothing     -> nothing       -> "[thought, 2 bytes]\n"     -> "Yes"
class ThinkView {
public:
    /// `begins_inside`: the prompt already opened the block. `show` is told all that is to be seen.
    ThinkView(bool folds, bool begins_inside, std::function<void(std::string_view)> show);

    void push(std::string_view text);
    /// What was held back when the answer ends.
    void finish();

private:
    bool folds_;
    bool is_inside_;
    std::function<void(std::string_view)> show_;
    std::string held_;          // may begin a mark
    size_t folded_ = 0;         // bytes of the block so far
    bool skips_space_ = false;  // behind a folded block
};

/// Whether a prompt ends where thinking has begun: some templates open the block themselves.
bool ends_in_thinking(std::string_view prompt);

}  // namespace tessera::llm
