#include <memory>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/grammar/json_schema.h"
#include "run/grammar/matcher.h"
#include "run/grammar/member_rules.h"
#include "support/json.h"

// Makes a grammar of a schema with small limits, and writes a text of it, which must be JSON; and grammars of
// its members.

namespace {

constexpr tessera::grammar::Limits kLimits{.nodes = 20'000, .states = 20'000, .edges = 200'000};

/// Takes the first way everywhere, but for loops, which end at the second turn.
std::string some_text(const std::shared_ptr<const tessera::grammar::Automaton>& automaton) {
    tessera::grammar::Matcher matcher(automaton);
    std::string text;
    while (!matcher.may_end() && text.size() < 300) {
        const auto frames = matcher.pool().frames(matcher.state());
        const auto& edges = automaton->states[frames[text.size() % frames.size()].state].bytes;
        const char byte = static_cast<char>(edges[text.size() % edges.size()].first);
        TESSERA_CHECK(matcher.advance({&byte, 1}), "byte {} after {}", static_cast<int>(byte), text);
        text += byte;
    }
    return matcher.may_end() ? text : "";
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    (void)fuzz::accepts_or_throws_error([&] {
        const auto schema = grammar::parse_schema_value(fuzz::text_of(data, size), "fuzz");
        auto made = grammar::member_rules(schema, "fuzz", {.mark = "</v>"}, kLimits);
        for (const auto& member : made.members) {
            made.rules.root = member.text ? *member.text : *member.json;
            (void)grammar::compile(made.rules, kLimits);
        }
    });
    return fuzz::accepts_or_throws_error([&] {
        const auto rules = grammar::parse_schema(fuzz::text_of(data, size), "fuzz", kLimits);
        const auto automaton = std::make_shared<const grammar::Automaton>(grammar::compile(rules, kLimits));
        const std::string text = some_text(automaton);
        if (text.empty()) return;
        try {
            (void)parse_json(text, "text");
        } catch (const Error& error) {
            // Two members of one name are JSON, but no document of ours.
            TESSERA_CHECK(std::string_view(error.what()).find("twice") != std::string_view::npos, "{}: {}",
                          text, error.what());
        }
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
