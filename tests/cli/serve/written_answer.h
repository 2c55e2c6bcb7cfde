#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serve/reply.h"
#include "tessera/tools.h"

namespace tessera::serve::testing {

/// The parts of an answer that were sent.
struct Written {
    Reply reply;
    std::string stream;
    bool has_ended = false;

    ReplySink sink() {
        return {.whole = [this](Reply whole) { reply = std::move(whole); },
                .piece = [this](const std::string& piece) { stream += piece; },
                .end = [this] { has_ended = true; }};
    }
    nlohmann::json json() const { return nlohmann::json::parse(reply.body); }
};

/// Reads one letter as one event: t and u are text, h a thought, c and d calls of functions with these names,
/// everything else arguments; a point ends a call.
class LetterReader final : public AnswerReader {
public:
    std::vector<AnswerEvent> push(std::string_view piece) override {
        using Kind = AnswerEvent::Kind;
        std::vector<AnswerEvent> events;
        for (const char letter : piece) {
            const Kind kind = letter == 't' || letter == 'u'   ? Kind::kText
                              : letter == 'h'                  ? Kind::kThought
                              : letter == 'c' || letter == 'd' ? Kind::kCall
                              : letter == '.'                  ? Kind::kCallEnd
                                                               : Kind::kArguments;
            events.push_back({.kind = kind, .text = letter == '.' ? "" : std::string(1, letter)});
        }
        return events;
    }
    std::vector<AnswerEvent> finish() override { return {}; }
};

}  // namespace tessera::serve::testing
