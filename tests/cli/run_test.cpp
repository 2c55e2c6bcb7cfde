#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

using RunVerb = ToyBench;

TEST_F(RunVerb, TextGoesToStdoutAndTimesToStderr) {
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "30"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, letters(greedy({2, 0, 1}, 30)) + "\n");
    EXPECT_THAT(result.errors, MatchesRegex("prompt: 3 tokens in [0-9.]+ s, [0-9.]+ tokens/s\n"
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
    result = tessera({"run", "model", "-p", "cab"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors,
                HasSubstr("model: has no tokenizer: neither tokenizer.json, nor vocab.json with merges.txt"));
    EXPECT_FALSE(std::filesystem::exists(path("cache"))) << "nothing is compiled in vain";
}

TEST_F(RunVerb, WrongCallsAndWrongFilesDiffer) {
    EXPECT_EQ(tessera({"run", "toy.tsr"}).exit_code, 2) << "no prompt";
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "a", "-n", "0"}).exit_code, 2);
    EXPECT_EQ(tessera({"run", "missing.tsr", "-p", "a"}).exit_code, 1);
    EXPECT_EQ(tessera({"run", "missing.tsr", "-p", "a"}).errors,
              "tessera run: missing.tsr: does not exist\n");
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
