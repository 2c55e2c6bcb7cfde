#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/json_extent.h"
#include "tessera/tools.h"

namespace tessera::llm {

/// Takes from the front of what has come what is certain, and holds the rest until more comes or the answer
/// ends.
class StepReader : public AnswerReader {
public:
    std::vector<AnswerEvent> push(std::string_view piece) final;
    std::vector<AnswerEvent> finish() final;

protected:
    /// Takes a part of `held_`, which is not empty; false where nothing is certain. `is_end`: nothing more
    /// comes.
    virtual bool step(bool is_end) = 0;
    /// Gives the rest when no step takes more of it.
    virtual void end() = 0;

    void begin_arguments() { extent_ = {}; }
    /// Gives arguments as they come; true when they are complete.
    bool take_arguments();
    void add_call_end() { events_.push_back({.kind = AnswerEvent::Kind::kCallEnd}); }
    /// Gives the first bytes of what is held; false if there are none.
    bool give(AnswerEvent::Kind kind, size_t size);
    /// An event with a text, unless the text is empty.
    void add(AnswerEvent::Kind kind, std::string text);

    std::string held_;

private:
    JsonExtent extent_;
    std::vector<AnswerEvent> events_;
};

}  // namespace tessera::llm
