#include "cli/conversation.h"

#include <utility>

#include "cli/interrupt.h"
#include "cli/standard_streams.h"
#include "run/llm/think_view.h"
#include "support/error.h"
#include "support/note.h"

namespace tessera::cli {

Conversation::Conversation(Model& model, const ModelText& text, const AnswerSettings& settings)
    : model_(model),
      text_(text),
      settings_(settings),
      ends_(text.chat->turn_ends(*text.tokenizer, settings.chat)) {}

std::string Conversation::system() const {
    return !messages_.empty() && messages_.front().role == "system" ? messages_.front().content : "";
}

void Conversation::set_system(const std::string& text) {
    if (!messages_.empty() && messages_.front().role == "system") messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {"system", text});
}

void Conversation::clear() {
    const std::string told = system();
    messages_.clear();
    set_system(told);
}

bool Conversation::say(const std::string& text) {
    messages_.push_back({"user", text});
    const size_t before = messages_.size() - 1;
    try {
        if (answer()) return true;
    } catch (const Error& error) {
        note("{}", error.what());
    }
    messages_.resize(before);
    return false;
}

bool Conversation::retry() {
    if (messages_.empty() || messages_.back().role != "assistant") {
        note("there is no answer yet");
        return false;
    }
    ChatMessage last = std::move(messages_.back());
    messages_.pop_back();
    try {
        if (answer()) return true;
    } catch (const Error& error) {
        note("{}", error.what());
    }
    messages_.push_back(std::move(last));
    return false;
}

bool Conversation::answer() {
    const std::vector<TokenId> prompt = text_.chat->encode(*text_.tokenizer, messages_, settings_.chat);
    const int64_t left = model_.context() - static_cast<int64_t>(prompt.size());
    if (left < 0) {
        note("the conversation takes {} tokens, and the context has {} (/clear begins anew; see --context)",
             prompt.size(), model_.context());
        return false;
    }
    bool ends_line = true;
    llm::ThinkView view(settings_.folds_thinking,
                        settings_.folds_thinking && llm::ends_in_thinking(text_.tokenizer->decode(prompt)),
                        [&](std::string_view part) {
                            show(part);
                            if (!part.empty()) ends_line = part.ends_with('\n');
                        });
    const InterruptWatch interrupt;
    GenerateOptions how{.max_tokens = settings_.tokens.value_or(model_.context()),
                        .sampling = settings_.sampling,
                        .stop_ids = ends_,
                        .reuse_prefix = settings_.reuse_prefix,
                        .grammar = settings_.grammar,
                        .stop_strings = settings_.stop,
                        .should_stop = [&] { return interrupt.interrupted(); },
                        .on_text = [&](std::string_view part) { view.push(part); }};
    how.sampling.seed += answers_++;
    const Generation result = model_.generate(prompt, how);
    view.finish();
    if (!ends_line) show("\n");
    if (result.reason == StopReason::kContext)
        note("stopped: the context of {} tokens is full (/clear begins anew; see --context)",
             model_.context());
    if (result.reason == StopReason::kInterrupted) note("stopped: interrupted");
    if (settings_.grammar && !settings_.grammar->accepts(result.text))
        note("the answer ends before the grammar does");
    statistics_ = result.statistics;
    messages_.push_back({"assistant", result.text});
    return true;
}

}  // namespace tessera::cli
