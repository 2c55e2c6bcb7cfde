#include "run/llm/tool_rules.h"

#include <cmath>
#include <memory>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/grammar/automaton.h"
#include "run/grammar/matcher.h"
#include "run/llm/answer_reader.h"
#include "run/llm/grammar_constraint.h"
#include "run/llm/tool_answer.h"
#include "run/llm/tool_templates.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;
using Use = ToolChoice::Use;

const std::vector<Tool> kTools = {
    {.name = "add", .parameters = R"({"properties": {"a": {"type": "integer"}}, "required": ["a"],
                                      "additionalProperties": false})"},
    {.name = "adder", .parameters = R"({"type": "object", "properties": {"s": {"enum": ["x", "y"]}},
                                        "required": ["s"], "additionalProperties": false})"},
    {.name = "note", .parameters = R"({"properties": {
        "text": {"type": "string", "minLength": 1},
        "level": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "string", "maxLength": 9}]},
        "list": {"type": "array", "items": {"type": "string"}, "maxItems": 2}},
        "required": ["text"], "additionalProperties": false})"},
    {.name = "now"}};

/// The answers that the rules of a choice of tools allow, token by token.
class Answers {
public:
    Answers(const testing::ToolModel& model, const ToolChoice& choice, bool is_thinking = false)
        : tokenizer_(model.tokenizer),
          automaton_(std::make_shared<const grammar::Automaton>(grammar::compile(
              tool_rules(tool_form(model.chat, model.tokenizer), kTools, choice, is_thinking, model.tokenizer)
                  .grammar))) {}

    bool may_be(const std::string& text) const {
        const auto matcher = read(text);
        return matcher && matcher->may_end();
    }
    bool may_begin_with(const std::string& text) const { return read(text) != nullptr; }

private:
    std::unique_ptr<grammar::Matcher> read(const std::string& text) const {
        auto matcher = std::make_unique<grammar::Matcher>(automaton_);
        for (const TokenId id : tokenizer_.encode(text))
            if (!matcher->advance(grammar_bytes(tokenizer_, id))) return nullptr;
        return matcher;
    }

    Tokenizer tokenizer_;
    std::shared_ptr<const grammar::Automaton> automaton_;
};

std::string in_tags(const std::string& name, const std::string& arguments) {
    return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
}
const std::string kAdd = in_tags("add", R"({"a": 1})");

TEST(ToolRules, TextOrCalls) {
    const Answers answers(testing::tagged(), {});
    EXPECT_TRUE(answers.may_be(""));
    EXPECT_TRUE(answers.may_be("Any < text <tool_cal"));
    EXPECT_TRUE(answers.may_be(kAdd));
    EXPECT_TRUE(answers.may_be("I add. " + kAdd + "\n" + in_tags("now", "{}")));
    EXPECT_FALSE(answers.may_be("<tool_call>"));
    EXPECT_FALSE(answers.may_begin_with("<tool_call>x"));
    EXPECT_FALSE(answers.may_begin_with(in_tags("subtract", "{}").substr(0, 25)));
    EXPECT_FALSE(answers.may_be(in_tags("add", R"({"a": "1"})")));
    EXPECT_FALSE(answers.may_be(in_tags("add", "{}")));
    EXPECT_FALSE(answers.may_be(in_tags("now", R"({"a": 1})")));
    // One name is the beginning of another.
    EXPECT_TRUE(answers.may_be(in_tags("adder", R"({"s": "x"})")));
    EXPECT_FALSE(answers.may_be(in_tags("adder", R"({"a": 1})")));
    EXPECT_FALSE(answers.may_begin_with(kAdd + " and then"));
}

TEST(ToolRules, WhatIsChosen) {
    const testing::ToolModel model = testing::tagged();
    const Answers none(model, {.use = Use::kNone});
    EXPECT_TRUE(none.may_be("Text <tool_call"));
    EXPECT_FALSE(none.may_begin_with("Text <tool_call>"));
    const Answers required(model, {.use = Use::kRequired});
    EXPECT_TRUE(required.may_be(kAdd + "\n" + kAdd));
    EXPECT_FALSE(required.may_be(""));
    EXPECT_FALSE(required.may_begin_with("I"));
    const Answers one(model, {.use = Use::kRequired, .allowed = {"now"}, .is_parallel = false});
    EXPECT_TRUE(one.may_be(in_tags("now", "{}")));
    EXPECT_FALSE(one.may_be(kAdd));
    EXPECT_FALSE(one.may_begin_with(in_tags("now", "{}") + "\n"));
}

TEST(ToolRules, ThoughtsComeBeforeCalls) {
    const testing::ToolModel model = testing::tagged();
    for (const Use use : {Use::kAuto, Use::kRequired}) {
        const Answers answers(model, {.use = use});
        EXPECT_TRUE(answers.may_be("<think>" + kAdd + "?</think>\n\n" + kAdd));
        EXPECT_EQ(answers.may_be("<think>so"), use == Use::kAuto);
        const Answers inside(model, {.use = use}, true);
        EXPECT_TRUE(inside.may_be("<tool_call>?</think>\n\n" + kAdd));
        EXPECT_EQ(inside.may_be("so</think> It is."), use == Use::kAuto);
    }
}

TEST(ToolRules, BareFrames) {
    const testing::ToolModel model = testing::bare();
    const Answers answers(model, {});
    const std::string call = R"({"name": "add", "parameters": {"a": 1}})";
    EXPECT_TRUE(answers.may_be(call));
    EXPECT_TRUE(answers.may_be("<|python_tag|>" + call));
    EXPECT_TRUE(answers.may_be("Like " + call.substr(0, 30)));
    EXPECT_TRUE(answers.may_be("{}"));
    EXPECT_FALSE(answers.may_begin_with(R"({"a)"));
    EXPECT_FALSE(answers.may_begin_with(call + call));
    EXPECT_FALSE(answers.may_begin_with("<|python_tag|>x"));
    EXPECT_FALSE(Answers(model, {.use = Use::kNone}).may_begin_with("{\""));
}

/// The tokens are meant, and not the text that looks like them.
TEST(ToolRules, SpecialTokens) {
    const Answers answers(testing::listed(), {});
    EXPECT_TRUE(
        answers.may_be(R"([TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}, "id": "abcdefgh1"}])"));
    EXPECT_TRUE(answers.may_be(
        R"([TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}])"));
    EXPECT_FALSE(answers.may_begin_with("[INST]"));
    const testing::ToolModel without(testing::kListed, {"<s>", "</s>"});
    EXPECT_TRUE(Answers(without, {}).may_be(R"([TOOL_CALLS] [{"name": "now", "arguments": {}}])"));
    EXPECT_TRUE(Answers(testing::named(), {}).may_be("[TOOL_CALLS]now[CALL_ID]abcdefgh1[ARGS]{}"));
    EXPECT_FALSE(Answers(testing::named(), {}).may_be("[TOOL_CALLS]now[CALL_ID]abc[ARGS]{}"));
}

TEST(ToolRules, HarmonyChannels) {
    const std::string thought = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant";
    const std::string call = "<|channel|>commentary to=functions.add <|constrain|>json<|message|>{\"a\": 1}";
    const std::string text = "<|channel|>final<|message|>Yes.";
    for (const Use use : {Use::kNone, Use::kAuto, Use::kRequired}) {
        const Answers answers(testing::harmony(), {.use = use});
        EXPECT_EQ(answers.may_be(thought + call), use != Use::kNone);
        EXPECT_EQ(answers.may_be(thought + thought + text), use != Use::kRequired);
        EXPECT_FALSE(answers.may_be(thought));
        EXPECT_FALSE(answers.may_begin_with("Yes"));
    }
}

std::string refusal(const std::vector<Tool>& tools, const ToolChoice& choice,
                    const testing::ToolModel& model = testing::tagged()) {
    try {
        (void)tool_rules(tool_form(model.chat, model.tokenizer), tools, choice, false, model.tokenizer);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(ToolRules, WhatIsWrongIsNamed) {
    EXPECT_THAT(refusal({{.name = "a b"}}, {}), HasSubstr("tools: `a b`: is no name of a function"));
    EXPECT_THAT(refusal({{.name = "f"}, {.name = "f"}}, {}), HasSubstr("`f`: comes twice"));
    EXPECT_THAT(refusal(kTools, {.allowed = {"g"}}), HasSubstr("`g`: is chosen, and is none of them"));
    EXPECT_THAT(refusal({}, {.use = Use::kRequired}), HasSubstr("are none, and a call is required"));
    EXPECT_THAT(refusal({{.name = "f", .parameters = R"({"type": "string"})"}}, {}),
                HasSubstr("tools: `f.parameters.type`: is \"string\", expected \"object\""));
    EXPECT_THAT(refusal({{.name = "f", .parameters = R"({"properties": {"x": {"not": {}}}})"}}, {}),
                HasSubstr("tools: `f.parameters.properties.x.not`"));
    const testing::ToolModel tags = testing::membered();
    for (const auto& [parameters, problem] : std::vector<std::pair<std::string, std::string>>{
             {R"({"additionalProperties": {"type": "string"}})",
              "`f.parameters.additionalProperties`: is not supported where arguments are not written as "
              "JSON"},
             {R"({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})",
              "`f.parameters.anyOf`: is not supported where arguments are not written as JSON"},
             {R"({"properties": {"a": {}, "b": {}}, "minProperties": 1})", "counts its members"},
             {R"({"properties": {"a>\nb": {"type": "string"}}})", "have the name a>\\nb"},
             {R"({"properties": {"a": {"enum": []}}, "required": ["a"]})", "requires the member a"}})
        EXPECT_THAT(refusal({{.name = "f", .parameters = parameters}}, {}, tags), HasSubstr(problem));
}

std::string member(const std::string& name, const std::string& value) {
    return "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
}
std::string in_members(const std::string& name, const std::string& members) {
    return "<tool_call>\n<function=" + name + ">\n" + members + "</function>\n</tool_call>";
}

TEST(ToolRules, MembersInTags) {
    const Answers answers(testing::membered(), {});
    EXPECT_TRUE(answers.may_be("Text <parameter=a>."));
    EXPECT_TRUE(answers.may_be(in_members("add", member("a", "1"))));
    EXPECT_FALSE(answers.may_be(in_members("add", "")));
    EXPECT_FALSE(answers.may_be(in_members("add", member("a", "\"1\""))));
    EXPECT_FALSE(answers.may_begin_with("<tool_call>\n<function=add>\n<parameter=b"));
    EXPECT_TRUE(answers.may_be(in_members("adder", member("s", "x")) + "\n" + in_members("now", "")));
    EXPECT_FALSE(answers.may_be(in_members("adder", member("s", "z"))));
    const std::string text = member("text", "a \"<b>\"\n\nc</para\n");
    EXPECT_TRUE(answers.may_be(in_members("note", text)));
    EXPECT_FALSE(answers.may_be(in_members("note", member("text", ""))));
    EXPECT_FALSE(answers.may_be(in_members("note", member("text", "</parameter>"))));
    // What looks like a number is one, and has the bounds of one.
    EXPECT_TRUE(answers.may_be(in_members("note", text + member("level", "3"))));
    EXPECT_FALSE(answers.may_be(in_members("note", text + member("level", "2"))));
    EXPECT_TRUE(answers.may_be(in_members("note", text + member("level", "2 or 3"))));
    EXPECT_FALSE(answers.may_be(in_members("note", text + member("level", "two or three"))));
    EXPECT_TRUE(answers.may_be(in_members("note", text + member("list", R"(["</parameter>"])"))));
    EXPECT_FALSE(answers.may_be(in_members("note", member("list", "[]") + text)));
}

TEST(ToolRules, TagsMayBeTokensOrTellStrings) {
    const Answers keyed(testing::keyed(), {});
    EXPECT_TRUE(keyed.may_be(
        "<tool_call>now</tool_call><tool_call>note<arg_key>text</arg_key><arg_value>7</arg_value>"
        "</tool_call>"));
    EXPECT_FALSE(keyed.may_begin_with("<tool_call>now<arg_key>"));
    const Answers attributed(testing::attributed(), {});
    const std::string
        begin =
            "<calls>\n<invoke name=\"note\">\n<parameter name=\"text\" string=\"true\">7</parameter>\n"
            "<parameter name=\"level\" string=\"",
        end = "</parameter>\n</invoke>\n</calls>";
    EXPECT_TRUE(attributed.may_be(begin + "true\">2" + end));
    EXPECT_TRUE(attributed.may_be(begin + "false\">3" + end));
    EXPECT_FALSE(attributed.may_be(begin + "false\">2" + end));
}

/// Tokens drawn at random among those that may come: every call is of its schema.
TEST(ToolRules, EveryCallIsOfItsSchema) {
    int calls = 0, texts = 0;
    for (const auto& model :
         {testing::tagged(), testing::bare(), testing::listed(), testing::named(), testing::harmony(),
          testing::membered(), testing::keyed(), testing::attributed()})
        for (const Use use : {Use::kAuto, Use::kRequired})
            for (uint32_t seed = 0; seed < 12; ++seed) {
                const ToolAnswer answer = tool_answer(model.chat, model.tokenizer, {}, kTools, {.use = use});
                const auto reader = answer.reader();
                GrammarCache cache;
                GrammarConstraint constraint(cache.rules(model.tokenizer, answer.grammar), model.tokenizer,
                                             answer.stop_ids);
                const std::vector<float> logits(model.tokenizer.vocabulary_size(), 0);
                std::mt19937 random(seed);
                std::vector<AnswerEvent> events;
                const auto take = [&](std::vector<AnswerEvent> more) {
                    events.insert(events.end(), more.begin(), more.end());
                };
                for (int i = 0; i < 2000 && !constraint.is_complete(); ++i) {
                    const auto row = constraint.restricted(logits);
                    std::vector<TokenId> allowed;
                    for (size_t id = 0; id < row.size(); ++id)
                        if (!std::isinf(row[id])) allowed.push_back(static_cast<TokenId>(id));
                    // Marks and ends come seldom among so many letters.
                    const size_t rare = std::min<size_t>(allowed.size(), 4);
                    const TokenId id = random() % 4 == 0 ? allowed[allowed.size() - 1 - random() % rare]
                                                         : allowed[random() % allowed.size()];
                    if (std::count(answer.stop_ids.begin(), answer.stop_ids.end(), id) > 0) break;
                    constraint.accept(id);
                    take(reader->push(model.tokenizer.token_bytes(id)));
                }
                take(reader->finish());
                std::string name, arguments;
                for (const AnswerEvent& event : events) {
                    if (event.kind == AnswerEvent::Kind::kText) ++texts;
                    if (event.kind == AnswerEvent::Kind::kCall) name = event.text;
                    if (event.kind == AnswerEvent::Kind::kArguments) arguments += event.text;
                    if (event.kind != AnswerEvent::Kind::kCallEnd) continue;
                    const auto tool = std::find_if(kTools.begin(), kTools.end(),
                                                   [&](const Tool& one) { return one.name == name; });
                    ASSERT_NE(tool, kTools.end()) << name;
                    const std::string schema = tool->parameters.empty()
                                                   ? R"({"type": "object", "additionalProperties": false})"
                                                   : tool->parameters;
                    EXPECT_TRUE(Grammar::json_schema(schema).accepts(arguments)) << name << arguments;
                    arguments.clear();
                    ++calls;
                }
            }
    EXPECT_GT(calls, 60);
    EXPECT_GT(texts, 30);
}

}  // namespace
}  // namespace tessera::llm
