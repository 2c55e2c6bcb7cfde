#include "run/llm/answer_reader.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/tool_templates.h"

namespace tessera::llm {
namespace {

/// Events of one kind that follow each other as one.
std::vector<AnswerEvent> joined(const std::vector<AnswerEvent>& events) {
    std::vector<AnswerEvent> result;
    for (const AnswerEvent& event : events) {
        const bool is_more = !result.empty() && result.back().kind == event.kind &&
                             event.kind != AnswerEvent::Kind::kCall &&
                             event.kind != AnswerEvent::Kind::kCallEnd;
        if (is_more)
            result.back().text += event.text;
        else
            result.push_back(event);
    }
    return result;
}

/// "text|f({..})|": calls with their arguments, thoughts in brackets; `!`: a call without an end.
std::string shown(const std::vector<AnswerEvent>& events) {
    using Kind = AnswerEvent::Kind;
    std::string text;
    for (const AnswerEvent& event : joined(events)) {
        if (event.kind == Kind::kText) text += event.text + "|";
        if (event.kind == Kind::kThought) text += "[" + event.text + "]";
        if (event.kind == Kind::kCall) text += event.text + "(";
        if (event.kind == Kind::kArguments) text += event.text;
        if (event.kind == Kind::kCallEnd) text += ")";
    }
    return text;
}

std::vector<AnswerEvent> read(AnswerReader& reader, const std::vector<std::string>& pieces) {
    std::vector<AnswerEvent> all;
    for (const std::string& piece : pieces)
        for (AnswerEvent& event : reader.push(piece)) all.push_back(std::move(event));
    for (AnswerEvent& event : reader.finish()) all.push_back(std::move(event));
    return all;
}

/// Whole, by bytes, and in random pieces: all the same.
std::string read_in_all_ways(const ToolForm& form, const std::string& text, bool is_thinking = false,
                             const MemberKinds& kinds = {}) {
    const std::string whole = shown(read(*answer_reader(form, is_thinking, kinds), {text}));
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
        std::vector<std::string> pieces;
        for (size_t at = 0; at < text.size();) {
            const size_t size = round == 0 ? 1 : 1 + random() % 9;
            pieces.push_back(text.substr(at, size));
            at += size;
        }
        EXPECT_EQ(shown(read(*answer_reader(form, is_thinking, kinds), pieces)), whole) << text;
    }
    return whole;
}

ToolForm form_of(const testing::ToolModel& model) {
    return tool_form(model.chat, model.tokenizer);
}

TEST(AnswerReader, MembersInTags) {
    const MemberKinds kinds = {
        {"f", {{"s", MemberKind::kText}, {"j", MemberKind::kJson}, {"e", MemberKind::kEither}}}, {"g", {}}};
    const ToolForm form = form_of(testing::membered());
    const auto is = [&](const std::string& text) { return read_in_all_ways(form, text, false, kinds); };
    const auto member = [](const std::string& name, const std::string& value) {
        return "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
    };
    const std::string begin = "<tool_call>\n<function=f>\n", end = "</function>\n</tool_call>",
                      none = "<tool_call>\n<function=g>\n" + end;
    EXPECT_EQ(is("So: \n" + none), "So:|g({})");
    EXPECT_EQ(is(begin + member("s", "a \"b\"\n</para>\n") + member("j", R"({"</parameter>": [1]})") + end +
                 "\n" + none),
              R"(f({"s": "a \"b\"\n</para>\n", "j": {"</parameter>": [1]}})g({}))");
    EXPECT_EQ(is(begin + member("s", "17") + member("e", "17") + end), R"(f({"s": "17", "e": 17}))");
    EXPECT_EQ(is(begin + member("e", "17.") + end), R"(f({"e": "17."}))");
    EXPECT_EQ(is(begin + member("e", "[\"</parameter>\"]") + end), R"(f({"e": ["</parameter>"]}))");
    EXPECT_EQ(is(begin + member("s", "") + end), R"(f({"s": ""}))");
    // Cut off, there is no end, and what has come of a member is left out.
    EXPECT_EQ(is(begin + member("s", "x") + "<parameter=j>\n[1"), R"(f({"s": "x")");
    EXPECT_EQ(is(begin + member("s", "x") + "</fun"), R"(f({"s": "x")");
    // What departs from the form is text.
    EXPECT_EQ(is("<tool_call>\n<function=h>\n" + end), "<tool_call>\n<function=h>\n" + end + "|");
    EXPECT_EQ(is(begin + "x"), begin + "x|");
    EXPECT_EQ(is(begin + member("t", "x") + end), "f(" + member("t", "x") + end + "|");
    EXPECT_EQ(is(begin + member("s", "x") + "x"), R"(f({"s": "x"x|)");
}

TEST(AnswerReader, TagsThatTellStrings) {
    const MemberKinds kinds = {{"f", {{"e", MemberKind::kEither}}}};
    const auto is = [&](const std::string& member) {
        return read_in_all_ways(form_of(testing::attributed()),
                                "<calls>\n<invoke name=\"f\">\n<parameter name=\"e\" string=\"" + member +
                                    "</parameter>\n</invoke>\n</calls>",
                                false, kinds);
    };
    EXPECT_EQ(is("true\">17"), R"(f({"e": "17"}))");
    EXPECT_EQ(is("true\">{x"), R"(f({"e": "{x"}))");
    EXPECT_EQ(is("false\">17"), R"(f({"e": 17}))");
    EXPECT_EQ(is("false\">{\"a\": 1}"), R"(f({"e": {"a": 1}}))");
}

TEST(AnswerReader, CallsInTags) {
    const ToolForm form = form_of(testing::tagged());
    const std::string one =
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"}\\\"{\", \"b\": [1]}}\n</tool_call>";
    const std::string two = "<tool_call>\n{\"name\": \"g.h\", \"arguments\": {}}\n</tool_call>";
    const std::string f = R"(f({"a": "}\"{", "b": [1]}))";
    EXPECT_EQ(read_in_all_ways(form, "Just  <text> \n"), "Just  <text> \n|");
    EXPECT_EQ(read_in_all_ways(form, one), f);
    EXPECT_EQ(read_in_all_ways(form, one + "\n" + two), f + "g.h({})");
    EXPECT_EQ(read_in_all_ways(form, "Let me see.\n\n" + one + "\n" + two + "\n"),
              "Let me see.|" + f + "g.h({})");
    // Text behind the calls, and text that only looks like a call, stays text.
    EXPECT_EQ(read_in_all_ways(form, one + " done"), f + " done|");
    EXPECT_EQ(read_in_all_ways(form, "a <tool_call>\n{\"nam"), "a <tool_call>\n{\"nam|");
    EXPECT_EQ(read_in_all_ways(form, "<tool_call>"), "<tool_call>|");
    EXPECT_EQ(read_in_all_ways(form, "<tool_call>x" + one), "<tool_call>x|" + f);
    EXPECT_EQ(read_in_all_ways(form, "<tool_call>\n{\"name\": \"f\", \"arguments\": 3}"),
              "<tool_call>\n{\"name\": \"f\", \"arguments\": 3}|");
    // Cut off by a limit.
    EXPECT_EQ(read_in_all_ways(form, one.substr(0, 46)), R"(f({"a": ")");
    EXPECT_EQ(read_in_all_ways(form, one.substr(0, one.size() - 3)), f);
    EXPECT_EQ(read_in_all_ways(form, one + "\n<tool"), f + "\n<tool|");
}

TEST(AnswerReader, ThoughtsHaveNoCalls) {
    const ToolForm form = form_of(testing::tagged());
    const std::string call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    EXPECT_EQ(read_in_all_ways(form, "<think>\n" + call + "?\n</think>\n\n" + call),
              "<think>\n" + call + "?\n</think>|f({})");
    EXPECT_EQ(read_in_all_ways(form, "use " + call + "</think>\n" + call, true),
              "use " + call + "</think>|f({})");
}

TEST(AnswerReader, BareCalls) {
    const ToolForm form = form_of(testing::bare());
    const std::string call = R"({"name": "f", "parameters": {"a": 1}})";
    EXPECT_EQ(read_in_all_ways(form, call), R"(f({"a": 1}))");
    EXPECT_EQ(read_in_all_ways(form, "\n" + call), R"(f({"a": 1}))");
    EXPECT_EQ(read_in_all_ways(form, "<|python_tag|>" + call), R"(f({"a": 1}))");
    EXPECT_EQ(read_in_all_ways(form, "It is " + call), "It is " + call + "|");
    EXPECT_EQ(read_in_all_ways(form, "{} "), "{} |");
}

TEST(AnswerReader, Lists) {
    const ToolForm form = form_of(testing::listed());
    EXPECT_EQ(read_in_all_ways(
                  form, R"([TOOL_CALLS] [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}])"),
              "f({})g({})");
    EXPECT_EQ(read_in_all_ways(form, R"([TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abcdefgh1"}, )"
                                     R"({"name": "g", "arguments": {}, "id": "abcdefgh2"}])"),
              "f({})g({})");
}

TEST(AnswerReader, NamesBeforeArguments) {
    const ToolForm form = form_of(testing::named());
    EXPECT_EQ(
        read_in_all_ways(
            form,
            "Hm. [TOOL_CALLS]f[CALL_ID]abcdefgh1[ARGS]{}[TOOL_CALLS]g[CALL_ID]abcdefgh2[ARGS]{\"a\": 1}"),
        "Hm.|f({})g({\"a\": 1})");
}

TEST(AnswerReader, HarmonyChannels) {
    const std::string thought = "<|channel|>analysis<|message|>Hm <b>.<|end|><|start|>assistant";
    EXPECT_EQ(
        read_in_all_ways(
            Harmony{},
            thought + "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"),
        "[Hm <b>.]f({\"a\": 1})");
    EXPECT_EQ(read_in_all_ways(Harmony{}, " to=functions.f<|channel|>commentary json<|message|>{}"), "f({})");
    // Without a name it is no call.
    EXPECT_EQ(read_in_all_ways(Harmony{}, " to=functions.<|channel|>commentary json<|message|>{}"), "{}|");
    EXPECT_EQ(read_in_all_ways(Harmony{}, thought + "<|channel|>final<|message|>Yes.<|return|>"),
              "[Hm <b>.]Yes.|");
    EXPECT_EQ(read_in_all_ways(Harmony{}, "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant" +
                                              thought + "<|channel|>final<|message|>Yes."),
              "I look.|[Hm <b>.]Yes.|");
    EXPECT_EQ(read_in_all_ways(Harmony{}, "No form at all"), "No form at all|");
}

TEST(ToolCallId, IsNineCharacters) {
    EXPECT_EQ(tool_call_id(0), "000000000");
    EXPECT_EQ(tool_call_id(61), "z00000000");
    EXPECT_EQ(tool_call_id(~uint64_t{0}).size(), 9u);
}

}  // namespace
}  // namespace tessera::llm
