#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/json_schema.h"
#include "run/grammar/ordinary_schemas.h"
#include "run/grammar/random_schema.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::grammar {
namespace {

/// A random text of a grammar; empty where it gets too long.
std::string random_text(const std::shared_ptr<const Automaton>& automaton, std::mt19937& random) {
    Matcher matcher(automaton);
    std::string text;
    while (!(matcher.may_end() && (random() % 4 == 0 || !matcher.may_go_on()))) {
        if (text.size() > 600) return "";
        const auto frames = matcher.pool().frames(matcher.state());
        const auto& edges = automaton->states[frames[random() % frames.size()].state].bytes;
        const ByteEdge& edge = edges[random() % edges.size()];
        const char byte = static_cast<char>(edge.first + random() % (edge.last - edge.first + 1U));
        EXPECT_TRUE(matcher.advance({&byte, 1}));
        text += byte;
    }
    return text;
}

/// The text with a byte or two changed, left out or put in.
std::string changed(std::string text, std::mt19937& random) {
    constexpr std::string_view kBytes = "0129{}[]\",:aeu\\ .-\n";
    for (uint32_t i = 1 + random() % 2; i > 0 && !text.empty(); --i) {
        const size_t at = random() % text.size();
        const char byte = kBytes[random() % kBytes.size()];
        const uint32_t how = random() % 3;
        if (how == 0)
            text[at] = byte;
        else if (how == 1)
            text.erase(at, 1);
        else
            text.insert(at, 1, byte);
    }
    return text;
}

void write_case(std::ostream& file, const std::string& schema,
                const std::shared_ptr<const Automaton>& automaton, std::mt19937& random) {
    std::string texts;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) texts += (texts.empty() ? "" : ", ") + json_string(text);
    };
    for (int k = 0; k < 10; ++k) {
        const std::string text = random_text(automaton, random);
        add(text);
        for (int j = 0; j < 20; ++j)
            if (const std::string other = changed(text, random); accepts(automaton, other)) add(other);
    }
    file << "{\"schema\": " << json_string(schema) << ", \"texts\": [" << texts << "]}\n";
}

/// Every text of the grammar is valid by the schema: texts that follow the grammar, and such that were
/// changed and still do. TESSERA_JSONSCHEMA_PYTHON is a Python that has the package jsonschema.
TEST(SchemaOracle, TextsAreValidByPythonsJsonschema) {
    const char* python = std::getenv("TESSERA_JSONSCHEMA_PYTHON");
    if (python == nullptr)
        GTEST_SKIP()
            << "not checked: texts of schemas against Python's jsonschema (TESSERA_JSONSCHEMA_PYTHON)";
    const char* cases = std::getenv("TESSERA_GRAMMAR_CASES");
    const char* seed = std::getenv("TESSERA_GRAMMAR_SEED");
    std::mt19937 random(seed != nullptr ? static_cast<uint32_t>(std::atol(seed)) : 1);
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "cases.jsonl").string();
    std::ofstream file(path);
    for (long i = cases != nullptr ? std::atol(cases) : 100; i > 0; --i) {
        const std::string schema = random_schema(random);
        std::shared_ptr<const Automaton> automaton;
        try {
            automaton = std::make_shared<const Automaton>(compile(parse_schema(schema, "s")));
        } catch (const Error&) {
            continue;
        }
        write_case(file, schema, automaton, random);
    }
    for (const OrdinarySchema& one : ordinary_schemas())
        // OpenAPI 3.0's form of a bound is none of JSON Schema's; and Python's remainder is one of doubles.
        if (one.refused.empty() && one.schema.find("0.01") == std::string::npos &&
            one.schema.find("\"exclusiveMinimum\":true") == std::string::npos)
            write_case(file, one.schema,
                       std::make_shared<const Automaton>(compile(parse_schema(one.schema, "s"))), random);
    file.close();
    const std::string command =
        fmt::format("'{}' -B '{}/tests/run/grammar/schema_oracle.py' '{}'", python, TESSERA_SOURCE_DIR, path);
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace tessera::grammar
