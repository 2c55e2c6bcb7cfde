#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "run/llm/think_split.h"

namespace tessera::llm {

/// Shows an answer as it comes, and folds what the model thinks where that is asked for: "[thought, 2
/// bytes]".
class ThinkView {
public:
    /// `begins_inside`: as of ThinkSplit. `show` is told all that is to be seen.
    ThinkView(bool folds, bool begins_inside, std::function<void(std::string_view)> show);

    void push(std::string_view text);
    /// Returns what was held back, when the answer ends.
    void finish();

private:
    void show_parts(const std::vector<ThinkSplit::Part>& parts);

    bool folds_;
    ThinkSplit split_;
    std::function<void(std::string_view)> show_;
    bool is_inside_;
    size_t folded_ = 0;  // bytes of the block so far
};

}  // namespace tessera::llm
