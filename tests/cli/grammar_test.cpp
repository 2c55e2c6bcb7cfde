#include <string>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class GrammarFlagsOfVerbs : public ToyBench {};

TEST_F(GrammarFlagsOfVerbs, ARunFollowsAGrammar) {
    write("g.gbnf", "root ::= [k-p]{3} (\"ab\" | \"cd\")");
    for (const char* flag : {"--grammar", "--grammar-file"}) {
        const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", flag, "g.gbnf"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_THAT(result.output, MatchesRegex("[k-p][k-p][k-p](ab|cd)\n"));
    }
    const ProcessResult text =
        tessera({"run", "toy.tsr", "-p", "cab", "--grammar", "root ::= \"dad\" [e-g]"});
    EXPECT_THAT(text.output, MatchesRegex("dad[e-g]\n"));
}

TEST_F(GrammarFlagsOfVerbs, ATextThatEndsTooEarlyIsSaid) {
    const ProcessResult result =
        tessera({"run", "toy.tsr", "-p", "cab", "-n", "2", "--grammar", "root ::= [a-w]{5}"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("the text ends before the grammar does (see -n)\n"));
}

TEST_F(GrammarFlagsOfVerbs, FaultsAreFoundBeforeAModelIsLoaded) {
    write("g.gbnf", "root ::= \n  \"a");
    write("s.json", R"({"type": "object", "properties": {"when": {"type": "string", "format": "phone"}}})");
    const auto errors = [&](std::vector<std::string> flags) {
        std::vector<std::string> arguments = {"run", "missing.gguf", "-p", "a"};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        const ProcessResult result = tessera(arguments);
        return std::to_string(result.exit_code) + " " + result.errors;
    };
    EXPECT_THAT(errors({"--grammar", "g.gbnf"}), HasSubstr("g.gbnf:2:5: expected `\"` on the same line"));
    EXPECT_THAT(errors({"--json-schema", "s.json"}),
                HasSubstr("s.json: `properties.when.format`: the format \"phone\" is not supported"));
    EXPECT_THAT(errors({"--grammar", "none.gbnf"}), HasSubstr("none.gbnf"));
    EXPECT_THAT(errors({"--grammar", "root ::= root"}), HasSubstr("--grammar:1:1: `root`: "));
    EXPECT_THAT(errors({"-j", "{}", "--grammar", "g.gbnf"}), HasSubstr("--grammar excludes --json-schema"));
}

TEST_F(GrammarFlagsOfVerbs, SaysWhatTheVocabularyCannotSpell) {
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-j", "{\"type\": \"null\"}"});
    EXPECT_EQ(result.exit_code, 0) << "the letters of null are there: " << result.errors;
    EXPECT_EQ(result.output, "null\n");
    const ProcessResult digits = tessera({"run", "toy.tsr", "-p", "cab", "-j", "{\"type\": \"integer\"}"});
    EXPECT_EQ(digits.exit_code, 1);
    EXPECT_THAT(digits.errors, HasSubstr("no token of the vocabulary goes on as the grammar wants"));
}

}  // namespace
}  // namespace tessera
