#include "run/llm/tool_form.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/tool_templates.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;

const std::string kId(kIdLength, kIdCharacter);

CallFrame frame_of(const testing::ToolModel& model) {
    return std::get<CallFrame>(tool_form(model.chat, model.tokenizer));
}

TEST(ToolForm, IsWhatTheTemplateWrites) {
    EXPECT_EQ(frame_of(testing::tagged()),
              (CallFrame{.marker = "<tool_call>",
                         .open = "\n{\"name\": \"",
                         .middle = "\", \"arguments\": ",
                         .between = {"}\n</tool_call>\n<tool_call>\n{\"name\": \""},
                         .close = {"}\n</tool_call>"},
                         .thinking = ThinkMarks{"<think>", "</think>"}}));
    EXPECT_EQ(frame_of(testing::bare()), (CallFrame{.marker = "{\"",
                                                    .is_bare = true,
                                                    .open = "name\": \"",
                                                    .middle = "\", \"parameters\": ",
                                                    .close = {"}"},
                                                    .prefixes = {"<|python_tag|>"}}));
    EXPECT_EQ(frame_of(testing::listed()),
              (CallFrame{.marker = "[TOOL_CALLS]",
                         .open = " [{\"name\": \"",
                         .middle = "\", \"arguments\": ",
                         .between = {", \"id\": \"" + kId + "\"}, {\"name\": \"", "}, {\"name\": \""},
                         .close = {", \"id\": \"" + kId + "\"}]", "}]"}}));
    EXPECT_EQ(frame_of(testing::named()), (CallFrame{.marker = "[TOOL_CALLS]",
                                                     .middle = "[CALL_ID]" + kId + "[ARGS]",
                                                     .between = {"[TOOL_CALLS]"},
                                                     .close = {""}}));
    EXPECT_EQ(frame_of(testing::membered()),
              (CallFrame{.marker = "<tool_call>",
                         .open = "\n<function=",
                         .middle = ">\n",
                         .between = {"</function>\n</tool_call>\n<tool_call>\n<function="},
                         .close = {"</function>\n</tool_call>"},
                         .tags = MemberTags{.open = "<parameter=",
                                            .before_text = ">\n",
                                            .before_json = ">\n",
                                            .end = "\n</parameter>\n"}}));
    EXPECT_EQ(frame_of(testing::keyed()),
              (CallFrame{.marker = "<tool_call>",
                         .between = {"</tool_call><tool_call>"},
                         .close = {"</tool_call>"},
                         .tags = MemberTags{.open = "<arg_key>",
                                            .before_text = "</arg_key><arg_value>",
                                            .before_json = "</arg_key><arg_value>",
                                            .end = "</arg_value>"}}));
    EXPECT_EQ(frame_of(testing::attributed()),
              (CallFrame{.marker = "<calls>",
                         .open = "\n<invoke name=\"",
                         .middle = "\">\n",
                         .between = {"</invoke>\n<invoke name=\""},
                         .close = {"</invoke>\n</calls>"},
                         .tags = MemberTags{.open = "<parameter name=\"",
                                            .before_text = "\" string=\"true\">",
                                            .before_json = "\" string=\"false\">",
                                            .end = "</parameter>\n"}}));
    const testing::ToolModel harmony = testing::harmony();
    EXPECT_TRUE(std::holds_alternative<Harmony>(tool_form(harmony.chat, harmony.tokenizer)));
}

/// Without tokens for the marks they are tags in the text.
TEST(ToolForm, NeedsNoTokens) {
    const testing::ToolModel model(testing::kTagged, {"<s>", "</s>", "<|im_end|>"});
    EXPECT_EQ(frame_of(model).marker, "<tool_call>");
    EXPECT_EQ(frame_of(model).open, "\n{\"name\": \"");
}

/// Answers and calls may be in tokens that begin alike, as those of Cohere do.
TEST(ToolForm, BeginsAtAToken) {
    constexpr const char* kTemplate =
        "{{ tools | tojson }}{% for m in messages %}<r>{% if m.tool_calls %}<|START_ACTION|>["
        "{% for c in m.tool_calls %}{\"tool_name\": \"{{ c.function.name }}\", \"parameters\": "
        "{{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]<|END_ACTION|>"
        "{% else %}<|START_TEXT|>{{ m.content }}<|END_TEXT|>{% endif %}</s>{% endfor %}";
    const std::vector<std::string> marks = {"<|START_ACTION|>", "<|END_ACTION|>", "<|START_TEXT|>",
                                            "<|END_TEXT|>"};
    std::vector<std::string> special = {"<s>", "</s>"};
    special.insert(special.end(), marks.begin(), marks.end());
    const CallFrame frame = frame_of(testing::ToolModel(kTemplate, special));
    EXPECT_FALSE(frame.is_bare);
    EXPECT_EQ(frame.marker, "<|START_ACTION|>");
    EXPECT_EQ(frame.open, "[{\"tool_name\": \"");
    // Without such tokens they are tags.
    EXPECT_EQ(frame_of(testing::ToolModel(kTemplate, {"<s>", "</s>"})).marker, "<|START_ACTION|>");
}

std::string refusal(const std::string& chat_template,
                    const std::vector<std::string>& special = {"<s>", "</s>"}) {
    const testing::ToolModel model(chat_template, special);
    try {
        (void)tool_form(model.chat, model.tokenizer);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind, ErrorKind::kUsage);
        EXPECT_THAT(error.advice, HasSubstr("Qwen2.5"));
        return error.problem.substr(std::string("the chat template ").size());
    }
    return "none";
}

TEST(ToolForm, UnknownOnesAreRefused) {
    EXPECT_EQ(refusal("{% for m in messages %}<r>{{ m.content }}</s>{% endfor %}"),
              "does not tell the model of functions");
    const std::string unknown =
        "does not write calls of functions, or not with their arguments as a JSON object or as members in "
        "tags";
    const auto written = [](const std::string& call) {
        return refusal(
            "{{ tools | tojson }}{% for m in messages %}<r>{{ m.content }}"
            "{% for c in m.tool_calls or [] %}" +
            call + "{% endfor %}</s>{% endfor %}");
    };
    EXPECT_EQ(refusal("{{ tools }}{% for m in messages %}<r>{{ m.content }}</s>{% endfor %}"), unknown);
    EXPECT_EQ(refusal(testing::kAttributes, {"<s>", "</s>", "calls"}),
              "begins calls with a text in which calls stands, a special token");
    // Tags with the names of the members in both.
    EXPECT_EQ(
        written("<f={{ c.function.name }}>{% for k, v in c.function.arguments | items %}<{{ k }}>{{ v }}"
                "</{{ k }}>{% endfor %}</f>"),
        unknown);
    // Something between members.
    EXPECT_EQ(
        written("<f={{ c.function.name }}>{% for k, v in c.function.arguments | items %}<p={{ k }}>{{ v }}"
                "</p>{{ ',' if not loop.last }}{% endfor %}</f>"),
        unknown);
    // A number in another tag than it has in a string's place.
    EXPECT_EQ(
        written("<f={{ c.function.name }}>{% for k, v in c.function.arguments | items %}<p={{ k }}>{{ v }}"
                "{{ '</p>' if v is string else '</n>' }}{% endfor %}</f>"),
        unknown);
    // Tags that tell numbers from lists.
    EXPECT_EQ(written("<f={{ c.function.name }}>{% for k, v in c.function.arguments | items %}<p={{ k }} "
                      "type={{ 'text' if v is string else 'number' if v is number else 'list' }}>{{ v }}</p>"
                      "{% endfor %}</f>"),
              unknown);
    // Members in a notation of its own, also where a text would be copied.
    EXPECT_EQ(written("<f>call:{{ c.function.name }}{ {%- if c.function.arguments is mapping %}"
                      "{% for k, v in c.function.arguments | items %}{{ k }}:<'>{{ v }}<'>{% endfor %}"
                      "{% else %}{{ c.function.arguments }}{% endif %} }</f>"),
              unknown);
    EXPECT_EQ(written("<f>{{ c.function.name }}x{{ c.function.arguments | tojson }}</f>"),
              "writes the name of a function so that it cannot be told from what is around it");
    EXPECT_EQ(
        written("call {{ c.function.name }}{% for k, v in c.function.arguments | items %}<p={{ k }}>{{ v }}"
                "</p>{% endfor %}"),
        "writes members of arguments in tags, but neither before nor behind a call");
}

TEST(ToolForm, ArgumentsAreWhatTheTemplateWants) {
    EXPECT_EQ(arguments_form(testing::tagged().chat), ArgumentsForm::kObject);
    EXPECT_EQ(arguments_form(testing::named().chat), ArgumentsForm::kText);
    EXPECT_EQ(arguments_form(testing::membered().chat), ArgumentsForm::kObject);
    const std::vector<ChatMessage> messages = {
        {"user", "q"},
        {.role = "assistant", .content = "", .tool_calls = {{"abcdefghi", "f", R"({"a":  1})"}}},
        {.role = "tool", .content = "r", .tool_call_id = "abcdefghi"}};
    EXPECT_THAT(testing::tagged().chat.render(messages, {}).bytes(),
                HasSubstr("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"));
    EXPECT_THAT(testing::named().chat.render(messages, {}).bytes(),
                HasSubstr("[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{\"a\":  1}</s>"));
    // The name of a call stands at its answer, too.
    EXPECT_THAT(testing::harmony().chat.render(messages, {}).bytes(),
                HasSubstr("<|start|>functions.f to=assistant<|channel|>commentary<|message|>r"));
}

/// A function's description is a user's text.
TEST(ToolForm, ToolsSpellNoTokens) {
    const testing::ToolModel model = testing::tagged();
    ChatSettings settings;
    settings.tools.push_back({.name = "f", .description = "x<|im_end|>", .parameters = "{}"});
    const std::vector<ChatMessage> messages = {{"user", "q"}};
    const std::vector<TokenId> ids = model.chat.encode(model.tokenizer, messages, settings);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), *model.tokenizer.find("<|im_end|>")), 2);
    EXPECT_THAT(
        model.tokenizer.decode(ids),
        HasSubstr(
            R"({"type": "function", "function": {"name": "f", "description": "x<|im_end|>", "parameters": {}}})"));
}

TEST(ToolForm, CallsAreRefusedWhereTheTemplateHasNone) {
    const testing::ToolModel model("{% for m in messages %}{{ m.content }}{% endfor %}", {"<s>", "</s>"});
    const std::vector<ChatMessage> messages = {
        {"user", "q"}, {.role = "assistant", .content = "", .tool_calls = {{"abcdefghi", "f", "{}"}}}};
    EXPECT_THROW((void)model.chat.render(messages, {}), Error);
}

}  // namespace
}  // namespace tessera::llm
