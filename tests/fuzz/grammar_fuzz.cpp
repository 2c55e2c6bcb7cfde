#include <memory>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/grammar/matcher.h"
#include "run/grammar/parse_gbnf.h"

// Compiles a grammar with small limits, and follows it with its own text and with a few bytes.

namespace {

constexpr tessera::grammar::Limits kLimits{
    .text_bytes = 4096, .depth = 20, .nodes = 2000, .repetitions = 500, .states = 2000, .edges = 20'000};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    const std::string_view text = fuzz::text_of(data, size);
    return fuzz::accepts_or_throws_error([&] {
        const auto automaton = std::make_shared<const grammar::Automaton>(
            grammar::compile(grammar::parse_gbnf(text, "fuzz", kLimits), kLimits));
        grammar::Matcher matcher(automaton);
        TESSERA_CHECK(matcher.may_end() || matcher.may_go_on(), "no text, but accepted");
        for (size_t i = 0; i < 100 && matcher.may_go_on(); ++i) {
            // A byte that the grammar takes: the states say which.
            const auto frames = matcher.pool().frames(matcher.state());
            const auto& edges = automaton->states[frames[i % frames.size()].state].bytes;
            const char byte = static_cast<char>(edges[i % edges.size()].first);
            TESSERA_CHECK(matcher.advance({&byte, 1}), "byte {}", static_cast<int>(byte));
            TESSERA_CHECK(matcher.may_end() || matcher.may_go_on(), "a text without an end");
        }
        (void)matcher.advance(text.substr(0, 64));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
