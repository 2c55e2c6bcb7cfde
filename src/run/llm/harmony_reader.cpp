#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "run/llm/answer_reader.h"
#include "run/llm/step_reader.h"
#include "run/llm/text_match.h"

// An answer in OpenAI's harmony is messages of a head and a body, of which the prompt has begun the first:
//
//     <|channel|>analysis<|message|>..<|end|>  <|start|>assistant<|channel|>final<|message|>..
//
// The head says what the body is: thoughts, text, or the arguments of a call.

namespace tessera::llm {
namespace {

constexpr std::string_view kMessage = "<|message|>", kRecipient = "to=functions.";
constexpr std::array<std::string_view, 5> kEnds = {"<|end|>", "<|start|>", "<|return|>", "<|call|>",
                                                   "<|channel|>"};
/// Heads are short; whatever goes on longer is text of a model that does not keep to the form.
constexpr size_t kLongestHead = 512;

class HarmonyReader final : public StepReader {
    enum class State { kHead, kBody, kArguments, kBehind };

    bool step(bool is_end) override {
        switch (state_) {
            case State::kHead:
                return head();
            case State::kBody:
                return body(is_end);
            case State::kArguments:
                return arguments();
            case State::kBehind:
                return behind(is_end);
        }
        return false;
    }

    bool head() {
        const size_t end = std::string_view(held_).substr(0, kLongestHead).find(kMessage);
        if (end == std::string::npos) {
            if (held_.size() <= kLongestHead) return false;
            // Given at once: what it begins with may end a body.
            size_t size = kLongestHead;
            while ((static_cast<unsigned char>(held_[size]) & 0xC0) == 0x80 && size > 1) --size;
            kind_ = AnswerEvent::Kind::kText;
            give(kind_, size);
            return go_to(State::kBody);
        }
        const std::string head = held_.substr(0, end);
        held_.erase(0, end + kMessage.size());
        const size_t recipient = head.find(kRecipient);
        if (recipient != std::string::npos) {
            const auto begin = head.begin() + static_cast<std::ptrdiff_t>(recipient + kRecipient.size());
            const std::string name(begin, std::find_if_not(begin, head.end(), is_name_character));
            if (!name.empty()) {
                add(AnswerEvent::Kind::kCall, name);
                begin_arguments();
                return go_to(State::kArguments);
            }
        }
        kind_ = head.find("<|channel|>analysis") != std::string::npos ? AnswerEvent::Kind::kThought
                                                                      : AnswerEvent::Kind::kText;
        return go_to(State::kBody);
    }

    /// Position of a mark that ends a body, and how much of the end may begin one.
    std::pair<size_t, size_t> find_end() const {
        size_t at = std::string::npos, begun = 0;
        for (const std::string_view end : kEnds) {
            at = std::min(at, held_.find(end));
            begun = std::max(begun, begun_at_end(held_, end));
        }
        return {at, begun};
    }

    bool body(bool is_end) {
        const auto [at, begun] = find_end();
        if (at == std::string::npos) return give(kind_, held_.size() - (is_end ? 0 : begun));
        give(kind_, at);
        return go_to(State::kHead);
    }

    bool arguments() { return take_arguments() && go_to(State::kBehind); }

    /// After a call, skips everything up to the next message.
    bool behind(bool is_end) {
        const auto [at, begun] = find_end();
        const bool is_found = at != std::string::npos;
        const size_t size = is_found ? at : held_.size() - (is_end ? 0 : begun);
        held_.erase(0, size);
        return is_found ? go_to(State::kHead) : false;
    }

    void end() override {
        if (state_ == State::kHead && !held_.starts_with("<|")) give(AnswerEvent::Kind::kText, held_.size());
    }

    bool go_to(State state) {
        state_ = state;
        return true;
    }

    State state_ = State::kHead;
    AnswerEvent::Kind kind_ = AnswerEvent::Kind::kText;
};

}  // namespace

std::unique_ptr<AnswerReader> harmony_reader() {
    return std::make_unique<HarmonyReader>();
}

}  // namespace tessera::llm
