// Empty texts and numbers out of range, for every option of every verb as --help lists them.

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// `tessera run`, `tessera chip schedule`.
using VerbWords = std::vector<std::string>;

struct ListedOption {
    VerbWords verb;
    std::string name, type;
};

class Arguments : public ToyBench {
protected:
    /// The subcommands of what the words call; those of `tessera` itself without words.
    std::vector<std::string> parts(VerbWords words) const {
        words.emplace_back("--help");
        const std::string help = tessera(words).output;
        const size_t begin = help.find("\nSubcommands:");
        if (begin == std::string::npos) return {};
        const std::regex line("\n  ([a-z]+)  ");
        std::vector<std::string> names;
        for (std::sregex_iterator match(help.begin() + static_cast<ptrdiff_t>(begin), help.end(), line), end;
             match != end; ++match)
            names.push_back((*match)[1]);
        return names;
    }
    std::vector<VerbWords> verbs() const {
        std::vector<VerbWords> all;
        for (const std::string& verb : parts({})) {
            const std::vector<std::string> own = parts({verb});
            if (own.empty()) all.push_back({verb});
            for (const std::string& part : own) all.push_back({verb, part});
        }
        return all;
    }
    static VerbWords with(VerbWords words, std::initializer_list<std::string> more) {
        words.insert(words.end(), more);
        return words;
    }
    /// The options that take a value.
    std::vector<ListedOption> options() const {
        const std::regex line("\n  (?:-[a-z],)?(--[a-z0-9-]+)(?:,--[a-z0-9-]+)* ([A-Z][A-Za-z.,]*)");
        std::vector<ListedOption> all;
        for (const VerbWords& verb : verbs()) {
            const std::string help = tessera(with(verb, {"--help"})).output;
            for (std::sregex_iterator match(help.begin(), help.end(), line), end; match != end; ++match)
                all.push_back({verb, (*match)[1], (*match)[2]});
        }
        return all;
    }
    /// Wrong usage, with a message that names the fault.
    void expect_refused(const std::vector<std::string>& arguments, const std::string& name) const {
        const ProcessResult result = tessera(arguments);
        const std::string call = fmt::format("{} {} '{}'", arguments[0], name, arguments.back());
        EXPECT_EQ(result.exit_code, 2) << call << "\n" << result.errors;
        EXPECT_THAT(result.errors, HasSubstr(name + ": ")) << call;
    }
};

TEST_F(Arguments, AnEmptyTextIsNoPathAndNoNumber) {
    ASSERT_GT(verbs().size(), 10U);
    int count = 0;
    for (const ListedOption& option : options()) {
        if (option.name == "--prompt" || option.name == "--stop" || option.name == "--system")
            continue;                            // texts
        if (option.name == "--model") continue;  // MODEL, below
        expect_refused(with(option.verb, {option.name, ""}), option.name);
        ++count;
    }
    EXPECT_GT(count, 40);
    for (const VerbWords& verb : verbs()) {
        if (verb.front() == "machine" || verb.back() == "list") continue;  // without an argument
        const ProcessResult result = tessera(with(verb, {""}));
        EXPECT_EQ(result.exit_code, 2) << verb.back();
        EXPECT_THAT(result.errors, AnyOf(HasSubstr("MODEL: is empty"), HasSubstr("OUT.tsr: is empty"),
                                         HasSubstr("FILE: is empty"), HasSubstr("SPACE: is empty"),
                                         HasSubstr("TABLE: is empty"), HasSubstr("NAME: is empty"),
                                         HasSubstr("SIZE: is empty"), HasSubstr("SHELL: is empty")))
            << verb.back();
    }
    expect_refused({"bench", "toy.tsr", ""}, "MODEL");
}

TEST_F(Arguments, NumbersBeyondTheirRangeAreNamed) {
    int count = 0;
    for (const ListedOption& option : options()) {
        const bool is_whole = option.type[0] == 'N' && (option.type.size() == 1 || option.type[1] == ',');
        if (is_whole || option.type == "K") {
            for (const char* number :
                 {"18446744073709551616", "99999999999999999999999", "-9223372036854775809", "-2", "1.5",
                  "1e3", "0x10", "010", " 1", "1 ", "nan"})
                if (option.name != "--seed" || std::string(number) != "010")
                    expect_refused(with(option.verb, {option.name, number}), option.name);
            ++count;
        }
        if (option.type == "T" || option.type == "P" || option.type == "X" || option.type == "S")
            for (const char* number : {"nan", "inf", "-1", "1e400", "one"})
                expect_refused(with(option.verb, {option.name, number}), option.name);
    }
    EXPECT_GT(count, 20);
    for (const char* number : {"18446744073709551615", "9223372036854775807", "16777217", "0"}) {
        expect_refused({"run", "toy.tsr", "-p", "a", "-n", number}, "-n,--tokens");
        expect_refused({"run", "toy.tsr", "-p", "a", "--context", number}, "-c,--context");
    }
}

TEST_F(Arguments, TheLargestNumbersThatAreTakenDoNotOverflow) {
    ProcessResult result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "16777216"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("16777216 tokens after a prompt of 3 do not fit into the context"));
    result = tessera({"bench", "toy.tsr", "--prefill", "16777216", "--depth", "16777216"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("33554432 tokens"));
    for (const std::string flag : {"--top-k", "--repeat-window"}) {
        result = tessera({"run", "toy.tsr", "-p", "cab", "-n", "4", "--temperature", "1", "--repeat-penalty",
                          "1.1", flag, "9223372036854775807"});
        EXPECT_EQ(result.exit_code, 0) << flag << result.errors;
    }
}

TEST_F(Arguments, ASeedOfMinusOneIsDrawnAndSaid) {
    const std::vector<std::string> drawing = {"run", "toy.tsr",       "-p", "cab", "-n",
                                              "30",  "--temperature", "9"};
    const auto with_seed = [&](const std::string& seed) {
        std::vector<std::string> arguments = drawing;
        arguments.insert(arguments.end(), {"--seed", seed});
        return tessera(arguments);
    };
    const ProcessResult first = with_seed("-1"), second = with_seed("-1");
    ASSERT_EQ(first.exit_code, 0) << first.errors;
    std::smatch seed;
    ASSERT_TRUE(std::regex_search(first.errors, seed, std::regex("seed: ([0-9]+)\n"))) << first.errors;
    EXPECT_THAT(second.errors, Not(HasSubstr("seed: " + seed[1].str() + "\n")));
    EXPECT_EQ(with_seed(seed[1]).output, first.output);
    EXPECT_EQ(with_seed("18446744073709551615").exit_code, 0);
    const ProcessResult greedy = tessera({"run", "toy.tsr", "-p", "cab", "-s", "7"});
    EXPECT_EQ(greedy.exit_code, 2);
    EXPECT_EQ(greedy.errors,
              "tessera run: `--seed`: is about drawing tokens, and the most probable one is taken (add a "
              "temperature, such as --temperature 0.8)\nSee `tessera run --help`.\n");
    EXPECT_THAT(with_seed("0").errors, Not(HasSubstr("seed:")));
    for (const char* wrong : {"-2", "18446744073709551616", "one"}) EXPECT_EQ(with_seed(wrong).exit_code, 2);
}

}  // namespace
}  // namespace tessera
