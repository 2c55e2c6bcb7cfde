#include <filesystem>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

using RunVerb = ToyBench;

TEST_F(RunVerb, TextGoesToStdoutAndRemarksToStderrWhereTheyAreWanted) {
    const ProcessResult quiet = tessera({"run", "toy.tsr", "-p", "cab", "-n", "30"});
    EXPECT_EQ(quiet.exit_code, 0) << quiet.errors;
    EXPECT_EQ(quiet.output, letters(greedy({2, 0, 1}, 30)) + "\n");
    EXPECT_THAT(quiet.errors, IsEmpty());
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "30", "--verbose"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, letters(greedy({2, 0, 1}, 30)) + "\n");
    EXPECT_THAT(result.errors, MatchesRegex("memory: weights 128 B mapped, cache 8 B per token x 32, [^\n]*\n"
                                            "prompt: 3 tokens in [0-9.]+ s, [0-9.]+ tokens/s\n"
                                            "text:   29 tokens in [0-9.]+ s, [0-9.]+ tokens/s\n"));
}

TEST_F(RunVerb, WithoutNumberTheContextBoundsTheText) {
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "--context", "20"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, letters(greedy({2, 0, 1}, 18)) + "\n");
    EXPECT_THAT(result.errors, HasSubstr("stopped: the context of 20 tokens is full (see --context)\n"));
}

TEST_F(RunVerb, StopsAtTheEndToken) {
    const std::vector<int32_t> all = greedy({2, 0, 1}, 30);
    toy_.eos = {all[4]};
    toy_.write(path("toy.tsr"));
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab"});
    const auto end = std::find(all.begin(), all.end(), all[4]);
    EXPECT_EQ(result.output, letters({all.begin(), end}) + "\n");
}

TEST_F(RunVerb, StopsAtEveryEndTokenThatTheFilesOfTheModelName) {
    const std::vector<int32_t> all = greedy({2, 0, 1}, 30);
    const auto first = std::find_first_of(all.begin(), all.end(), all.begin() + 6, all.begin() + 9);
    toy_.tokenizer.push_back({"generation_config.json",
                              fmt::format(R"({{"eos_token_id": [{}, {}, {}]}})", all[6], all[7], all[8])});
    toy_.write(path("toy.tsr"));
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab"}).output, letters({all.begin(), first}) + "\n");
}

TEST_F(RunVerb, StopsBeforeAStopString) {
    const std::string all = letters(greedy({2, 0, 1}, 40));
    for (const size_t length : {1, 3}) {
        const std::string stop = all.substr(20, length);
        const ProcessResult result =
            tessera({"run", "toy.tsr", "-p", "cab", "-n", "40", "--stop", "no such text", "--stop", stop});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_EQ(result.output, all.substr(0, all.find(stop)) + "\n") << stop;
    }
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab", "--stop", ""}).exit_code, 2);
}

TEST_F(RunVerb, AnArtefactHasTheTokenizerOfItsModel) {
    EXPECT_EQ(tessera({"tokenize", "toy.tsr", "cab"}).output, "2 0 1\n");
    EXPECT_EQ(tessera({"tokenize", "toy.tsr", "--decode", "2 0 1"}).output, "cab");
    // A BOS token in front of every text, which the model sees, and which it may be asked to leave out.
    std::string& tokenizer = toy_.tokenizer.front().bytes;
    const std::string none = R"("post_processor": null)";
    tokenizer.replace(tokenizer.find(none), none.size(), R"("post_processor": {"type": "TemplateProcessing",
 "single": [{"SpecialToken": {"id": "w", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "v", "type_id": 0}}],
 "pair": [], "special_tokens": {"w": {"id": "w", "ids": [22], "tokens": ["w"]},
                                "v": {"id": "v", "ids": [21], "tokens": ["v"]}}})");
    toy_.write(path("toy.tsr"));
    EXPECT_EQ(tessera({"tokenize", "toy.tsr", "cab"}).output, "22 2 0 1\n");
    EXPECT_EQ(tessera({"tokenize", "toy.tsr", "cab", "--no-special"}).output, "2 0 1\n");
    EXPECT_EQ(tessera({"tokenize", "toy.tsr", "cab", "--whole"}).output, "22 2 0 1 21\n");
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab", "-n", "4"}).output,
              letters(greedy({22, 2, 0, 1}, 4)) + "\n");
}

TEST_F(RunVerb, ThePromptIsTextOrIdsOrStandardInput) {
    const std::string expected = tessera({"run", "toy.tsr", "-p", "cab", "-n", "30"}).output;
    write("ids.json", "[2, 0, 1]");
    write("object.json", R"({"prompt_ids": [2, 0, 1]})");
    EXPECT_EQ(tessera({"run", "toy.tsr", "cab", "-n", "30"}).output, expected) << "as with ollama";
    EXPECT_EQ(tessera({"run", "toy.tsr", "--ids", "ids.json", "-n", "30"}).output, expected);
    EXPECT_EQ(tessera({"run", "toy.tsr", "--ids", "object.json", "-n", "30"}).output, expected);
    const std::string piped =
        fmt::format("printf cab | {} run {} -p - -n 30", TESSERA_PROGRAM, path("toy.tsr"));
    EXPECT_EQ(run_process({.program = "/bin/sh", .arguments = {"-c", piped}}).output, expected);
    const std::string as_file =
        fmt::format("printf cab | {} run {} -f - -n 30", TESSERA_PROGRAM, path("toy.tsr"));
    EXPECT_EQ(run_process({.program = "/bin/sh", .arguments = {"-c", as_file}}).output, expected);

    EXPECT_EQ(
        tessera({"run", "toy.tsr"}).errors,
        "tessera run: a prompt is required: --prompt, --file or --ids (`-p -` reads the standard input, and "
        "`tessera chat` has conversations)\nSee `tessera run --help`.\n");
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab", "--ids", "ids.json"}).exit_code, 2);
    write("ids.json", "[]");
    EXPECT_EQ(tessera({"run", "toy.tsr", "--ids", "ids.json"}).exit_code, 1);
}

TEST_F(RunVerb, SpecialTokensOfThePromptAreTextUnlessAskedFor) {
    std::string& tokenizer = toy_.tokenizer.front().bytes;
    const std::string none = R"("added_tokens": [])";
    tokenizer.replace(tokenizer.find(none), none.size(),
                      R"("added_tokens": [{"id": 3, "content": "cab", "special": true}])");
    toy_.write(path("toy.tsr"));
    // A letter that is an added token is written as its content.
    const std::string text = tessera({"run", "toy.tsr", "-p", "cab", "-n", "1"}).output;
    EXPECT_EQ(text, letters(greedy({2, 0, 1}, 1)) + "\n");
    const std::string special = tessera({"run", "toy.tsr", "-p", "cab", "-n", "1", "--special"}).output;
    EXPECT_EQ(special, letters(greedy({3}, 1)) + "\n");
    EXPECT_NE(text, special);
}

TEST_F(RunVerb, DrawsTheSameTextFromTheSameSeed) {
    const auto text = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"run", "toy.tsr", "-p", "cab", "-n", "40"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    };
    const std::string greedy_text = text({});
    const std::string drawn = text({"--temperature", "1", "--seed", "1"});
    EXPECT_EQ(drawn, text({"--temperature", "1", "--seed", "1"}));
    EXPECT_NE(drawn, text({"--temperature", "1", "--seed", "2"}));
    EXPECT_NE(drawn, greedy_text);
    EXPECT_EQ(text({"--temperature", "1", "--top-k", "1"}), greedy_text);
    EXPECT_EQ(text({"--temperature", "1", "--top-p", "0.001"}), greedy_text);
    EXPECT_EQ(text({"--temperature", "1", "--min-p", "1"}), greedy_text);
    EXPECT_NE(text({"--repeat-penalty", "1.5"}), greedy_text);
    EXPECT_EQ(text({"--repeat-penalty", "1.5", "--repeat-window", "0"}), greedy_text);
}

TEST_F(RunVerb, SamplingOptionsOutsideTheirRangeAreWrongUsage) {
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"--temperature", "-1"},
                                               {"--temperature", "1", "--top-p", "0"},
                                               {"--temperature", "1", "--top-p", "1.1"},
                                               {"--temperature", "1", "--top-k", "-1"},
                                               {"--top-k", "5"},
                                               {"--repeat-window", "5"},
                                               {"--repeat-penalty", "0"}}) {
        std::vector<std::string> arguments = {"run", "toy.tsr", "-p", "cab"};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        EXPECT_EQ(tessera(arguments).exit_code, 2) << wrong.front();
    }
}

TEST_F(RunVerb, WhatDoesNotFitNamesTheContext) {
    ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "30", "--context", "20"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_EQ(result.errors,
              "tessera run: toy: 30 tokens after a prompt of 3 do not fit into the context of 20 (--context "
              "can be up to "
              "128)\n");
    result = tessera({"run", "toy.tsr", "-p", std::string(129, 'a')});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("a sequence of 129 tokens does not fit into the context of 128"));
    result = tessera({"run", "toy.tsr", "-p", "a", "--context", "129"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("the compiled model allows up to 128"));
}

TEST_F(RunVerb, AnEmptyPromptNeedsABos) {
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", ""});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("cannot continue an empty prompt: the model has no BOS token"));
}

TEST_F(RunVerb, NamesTheMissingTokenizer) {
    toy_.tokenizer.clear();
    toy_.write(path("toy.tsr"));
    ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("toy.tsr: has no tokenizer"));

    std::filesystem::create_directory(path("model"));
    write("model/config.json", "{}");
    result = tessera({"run", "model", "-p", "cab"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("model: has no tokenizer: neither tokenizer.json, nor "
                                         "tokenizer.model, nor vocab.json with merges.txt"));
    EXPECT_FALSE(std::filesystem::exists(path("cache"))) << "nothing is compiled in vain";
}

TEST_F(RunVerb, IdsNeedNoTokenizer) {
    write("ids.json", "[2, 0, 1]");
    toy_.tokenizer.clear();
    toy_.write(path("toy.tsr"));
    ProcessResult result = tessera({"run", "toy.tsr", "--ids", "ids.json", "-n", "5"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, fmt::format("{}\n", fmt::join(greedy({2, 0, 1}, 5), " ")));
    EXPECT_THAT(result.errors, HasSubstr("the model has no tokenizer: what follows is ids"));
    result = tessera({"run", "toy.tsr", "--ids", "ids.json", "--stop", "a"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("`--stop`: ends a text, and the model has no tokenizer"));
}

TEST_F(RunVerb, WrongCallsAndWrongFilesDiffer) {
    EXPECT_EQ(tessera({"run", "toy.tsr"}).exit_code, 2) << "no prompt";
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "a", "-n", "0"}).exit_code, 2);
    EXPECT_EQ(tessera({"run", "missing.tsr", "-p", "a"}).exit_code, 1);
    EXPECT_EQ(
        tessera({"run", "missing.tsr", "-p", "a"}).errors,
        "tessera run: missing.tsr: does not exist (name an artefact, a folder in HuggingFace form, or a GGUF "
        "file)\n");
    write("text", "hello");
    const ProcessResult result = tessera({"run", "text", "-p", "a"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("text: is neither"));
}

TEST_F(RunVerb, ATruncatedArtefactIsNamed) {
    std::filesystem::resize_file(path("toy.tsr"), 5000);
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "a"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("toy.tsr: has 5000 bytes, its header says"));
}

}  // namespace
}  // namespace tessera
