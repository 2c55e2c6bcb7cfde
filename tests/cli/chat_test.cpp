#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The toy model with a chat template of letters: u and a begin what the user and the assistant say.
class ChatVerb : public ToyBench {
protected:
    void SetUp() override {
        ToyBench::SetUp();
        set_template(
            "{% for m in messages %}{{ {'user': 'u', 'assistant': 'a', 'system': 's'}[m.role] }}"
            "{{ m.content }}{% endfor %}{% if add_generation_prompt %}a{% endif %}");
    }
    void set_template(const std::string& text) {
        toy_.tokenizer.resize(1);
        toy_.tokenizer.push_back({"chat_template.jinja", text});
        toy_.write(path("toy.tsr"));
    }
    /// Talks: lines on the standard input. The most probable tokens unless the flags say otherwise.
    ProcessResult chat(const std::string& lines, std::vector<std::string> flags = {}) const {
        write("talk.txt", lines);
        std::string command = std::string("exec '") + TESSERA_PROGRAM + "' chat toy.tsr";
        const auto is_temperature = [](const std::string& flag) { return flag.starts_with("--temp"); };
        if (std::ranges::none_of(flags, is_temperature)) command += " --temperature 0";
        for (const std::string& flag : flags) command += " '" + flag + "'";
        return run_process({.program = "/usr/bin/env",
                            .arguments = {"-C", folder_.path().string(), "XDG_CACHE_HOME=" + path("cache"),
                                          "sh", "-c", command + " < talk.txt"}});
    }
    /// The model's answer to a prompt in letters.
    std::string answer(const std::string& prompt, size_t count) const {
        std::vector<int32_t> ids;
        for (const char letter : prompt) ids.push_back(letter - 'a');
        return letters(greedy(ids, count));
    }
};

TEST_F(ChatVerb, AnswersWithTheWholeConversationBefore) {
    const std::string first = answer("ucaba", 3);
    const std::string second = answer("ucaba" + first + "udada", 3);
    const ProcessResult result = chat("cab\ndad\n", {"-n", "3"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, first + "\n" + second + "\n");
}

TEST_F(ChatVerb, ReusesWhatItHasReadAndSaysTheSame) {
    const std::string lines = "cab\ndad\nbed\n/stats\nfed\n/retry\n/system gab\ncab\n/stats\n";
    const ProcessResult with = chat(lines, {"-n", "2"});
    const ProcessResult without = chat(lines, {"-n", "2", "--no-prefix-reuse"});
    EXPECT_EQ(with.exit_code, 0) << with.errors;
    EXPECT_EQ(with.output, without.output);
    // The prompt u cab a xx u dad a xx u bed a begins with the twelve letters of the one before.
    EXPECT_THAT(with.errors, HasSubstr("; 12 were known\n"));
    EXPECT_THAT(without.errors, Not(HasSubstr("; 12 were known\n")));
    EXPECT_THAT(without.errors, HasSubstr("; 0 were known\n"));
}

TEST_F(ChatVerb, DrawsTheSameWithAndWithoutReuse) {
    const std::string lines = "cab\ndad\n/retry\n/retry\nbed\n";
    const std::vector<std::string> flags = {"-n", "4", "--temp", "2", "-s", "7"};
    std::vector<std::string> fresh = flags;
    fresh.emplace_back("--no-prefix-reuse");
    const std::string output = chat(lines, flags).output;
    EXPECT_EQ(output, chat(lines, fresh).output);
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 5);
}

TEST_F(ChatVerb, SavesAndLoads) {
    const std::string whole = chat("cab\ndad\n", {"-n", "3"}).output;
    const ProcessResult saved = chat("cab\n/save talk.json\n/exit\nnot read\n", {"-n", "3"});
    EXPECT_EQ(saved.exit_code, 0) << saved.errors;
    EXPECT_EQ(saved.output + chat("dad\n", {"-n", "3", "--load", "talk.json"}).output, whole);
    EXPECT_EQ(chat("/load talk.json\ndad\n", {"-n", "3"}).output, whole.substr(4));
    EXPECT_EQ(chat("cab\n/clear\n/load talk.json\ndad\n", {"-n", "3"}).output, whole);
}

TEST_F(ChatVerb, CommandsSayWhatTheyDidOrWhyNot) {
    const ProcessResult result =
        chat("/help\n/hel\n/save\n/load none.json\n/retry\n/system\n/clear\n", {"-n", "3"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr("/save FILE     writes the conversation into a file\n"));
    EXPECT_THAT(result.errors, HasSubstr("there is no command /hel, did you mean /help; /help lists all\n"));
    EXPECT_THAT(result.errors, HasSubstr("/save needs the name of a file\n"));
    EXPECT_THAT(result.errors, HasSubstr("none.json"));
    EXPECT_THAT(result.errors, HasSubstr("there is no answer yet\n"));
    EXPECT_THAT(result.errors, HasSubstr("the model is told nothing before the conversation\n"));
    EXPECT_THAT(result.errors, HasSubstr("the conversation begins anew\n"));
}

TEST_F(ChatVerb, LinesGoOnBehindABackslash) {
    set_template(
        "{% for m in messages %}{{ m.content | replace('\n', 'n') | replace('/', 'g') }}{% endfor %}");
    EXPECT_EQ(chat("ca\\\nb\n", {"-n", "3"}).output, answer("canb", 3) + "\n");
    EXPECT_EQ(chat("//a\n\n  \n", {"-n", "3"}).output, answer("ga", 3) + "\n");
}

TEST_F(ChatVerb, TellsTheModelSomethingBefore) {
    const std::string expected = answer("sgabucaba", 3) + "\n";
    EXPECT_EQ(chat("cab\n", {"-n", "3", "--system", "gab"}).output, expected);
    EXPECT_EQ(chat("/system gab\ncab\n", {"-n", "3"}).output, expected);
    EXPECT_EQ(chat("", {"-n", "3", "--system", "gab", "-p", "cab"}).output, expected);
    EXPECT_EQ(chat("/system -\ncab\n", {"-n", "3", "--system", "gab"}).output, answer("ucaba", 3) + "\n");
}

TEST_F(ChatVerb, AConversationThatIsFullStaysAsItWas) {
    const ProcessResult result = chat("cab\nabcdefghijklmnopq\n/save talk.json\n", {"-n", "3", "-c", "20"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors,
                HasSubstr("the conversation takes 27 tokens, and the context has 20 (/clear begins "
                          "anew; see --context)\n"));
    EXPECT_THAT(result.errors, HasSubstr("saved 2 messages in talk.json\n"));
}

TEST_F(ChatVerb, ARefusalOfTheTemplateIsNoEnd) {
    set_template(
        "{% if messages | length > 1 %}{{ raise_exception('too long') }}{% endif %}{{ messages[0].content "
        "}}");
    const ProcessResult result = chat("cab\ndad\n/clear\ncab\n", {"-n", "3"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.output, answer("cab", 3) + "\n" + answer("cab", 3) + "\n");
    EXPECT_THAT(
        result.errors,
        HasSubstr(
            "toy.tsr/chat_template.jinja:1:49: the model's template refuses the conversation: too long\n"));
}

TEST_F(ChatVerb, NeedsATemplate) {
    toy_.tokenizer.resize(1);
    toy_.write(path("toy.tsr"));
    const ProcessResult result = chat("cab\n");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("has no chat template: it continues texts, and answers nobody"));
    write("own.jinja", "u{{ messages[0].content }}");
    EXPECT_EQ(chat("cab\n", {"-n", "3", "--chat-template", "own.jinja"}).output, answer("ucab", 3) + "\n");
}

TEST_F(ChatVerb, RunUsesTheTemplateAndSaysSo) {
    const ProcessResult result =
        tessera({"run", "toy.tsr", "-p", "cab", "-n", "5", "--system", "gab", "--verbose"});
    EXPECT_EQ(result.output, answer("sgabucaba", 5) + "\n") << result.errors;
    EXPECT_THAT(result.errors,
                HasSubstr("using the model's chat template (--raw continues the text as it is)\n"));
    for (const char* flag : {"--raw", "--special"}) {
        const ProcessResult raw = tessera({"run", "toy.tsr", "-p", "cab", "-n", "5", flag, "--verbose"});
        EXPECT_EQ(raw.output, answer("cab", 5) + "\n") << raw.errors;
        EXPECT_THAT(raw.errors, Not(HasSubstr("template")));
    }
    write("prompt.txt", std::string("cab"));
    EXPECT_EQ(tessera({"run", "-m", "toy.tsr", "-f", "prompt.txt", "-n", "5", "-c", "20", "-t", "1"}).output,
              answer("ucaba", 5) + "\n");
    EXPECT_THAT(tessera({"run", "toy.tsr", "-p", "cab", "--raw", "--system", "gab"}).errors,
                HasSubstr("`--system`: is part of a conversation, and --raw continues a text"));
    EXPECT_THAT(tessera({"run", "toy.tsr", "-p", "cab", "-t", "3"}).errors,
                HasSubstr("is compiled for 1 worker, and cannot run with 3"));
}

TEST_F(ChatVerb, DrawsAsTheFilesOfTheModelSayUnlessFlagsDo) {
    write("talk.txt", std::string("cab\n"));
    const auto drawn = [&](const std::string& flags) {
        const std::string command =
            fmt::format("exec {} chat toy.tsr -n 20 {} < talk.txt", TESSERA_PROGRAM, flags);
        const ProcessResult result = run_process(
            {.program = "/usr/bin/env", .arguments = {"-C", folder_.path().string(), "sh", "-c", command}});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result;
    };
    const std::string most_probable = answer("ucaba", 20) + "\n";
    const ProcessResult usual = drawn("");
    EXPECT_THAT(usual.errors, HasSubstr("\nsampling: temperature 0.7, top-p 0.95, min-p 0.05\n"));
    EXPECT_NE(usual.output, most_probable);
    EXPECT_EQ(usual.output, drawn("--temperature 0.7 --top-p 0.95 --min-p 0.05").output);
    EXPECT_EQ(drawn("--top-k 1").output, most_probable) << "needs no temperature of its own";

    toy_.tokenizer.push_back(
        {"generation_config.json", R"({"temperature": 0.5, "top_k": 1, "num_beams": 2})"});
    toy_.write(path("toy.tsr"));
    const ProcessResult stated = drawn("");
    EXPECT_EQ(stated.output, most_probable);
    EXPECT_THAT(stated.errors, HasSubstr("\ngeneration_config.json: num_beams is 2, which is not followed\n"
                                         "sampling: temperature 0.5, top-k 1 (of the model's "
                                         "generation_config.json and the flags)\n"));
    EXPECT_NE(drawn("--top-k 0 --temperature 3").output, most_probable);
    EXPECT_THAT(tessera({"inspect", "toy.tsr"}).output,
                HasSubstr("\nsampling    temperature 0.5, top-k 1 (generation_config.json)\n"));
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab", "-n", "20", "--seed", "7"}).output, most_probable);
}

TEST_F(ChatVerb, AWrongTemplateIsAnErrorWithItsPlace) {
    set_template("u\n{{ messages | shout }}");
    const ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "5"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors,
                HasSubstr("chat_template.jinja:2:15: there is no filter `shout` (--raw continues a "
                          "text without the chat template; --chat-template FILE gives another one)"));
    EXPECT_EQ(tessera({"run", "toy.tsr", "-p", "cab", "-n", "5", "--raw"}).exit_code, 0);
}

}  // namespace
}  // namespace tessera
