#include "run/llm/step_reader.h"

#include <utility>

namespace tessera::llm {

std::vector<AnswerEvent> StepReader::push(std::string_view piece) {
    held_ += piece;
    while (!held_.empty() && step(false)) {
    }
    return std::exchange(events_, {});
}

std::vector<AnswerEvent> StepReader::finish() {
    while (!held_.empty() && step(true)) {
    }
    end();
    return std::exchange(events_, {});
}

bool StepReader::take_arguments() {
    give(AnswerEvent::Kind::kArguments, extent_.take(held_));
    if (extent_.is_complete()) add_call_end();
    return extent_.is_complete();
}

bool StepReader::give(AnswerEvent::Kind kind, size_t size) {
    add(kind, held_.substr(0, size));
    held_.erase(0, size);
    return size > 0;
}

void StepReader::add(AnswerEvent::Kind kind, std::string text) {
    if (!text.empty()) events_.push_back({.kind = kind, .text = std::move(text)});
}

}  // namespace tessera::llm
