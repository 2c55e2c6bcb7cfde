#include <array>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/llm/answer_reader.h"

// Reads an answer, which a model may have made anything of, whole and by bytes: both say the same. The first
// byte chooses the form.

namespace {

using tessera::AnswerEvent;
using tessera::llm::CallFrame;
using tessera::llm::MemberKind;
using tessera::llm::MemberTags;
using tessera::llm::ToolForm;

const std::array<ToolForm, 6> kForms = {
    CallFrame{.marker = "<tool_call>",
              .open = "\n{\"name\": \"",
              .middle = "\", \"arguments\": ",
              .between = {"}\n</tool_call>\n<tool_call>\n{\"name\": \""},
              .close = {"}\n</tool_call>"},
              .thinking = tessera::llm::ThinkMarks{"<think>", "</think>"}},
    CallFrame{.marker = "{\"",
              .is_bare = true,
              .open = "name\": \"",
              .middle = "\", \"parameters\": ",
              .close = {"}"},
              .prefixes = {"<|python_tag|>"}},
    CallFrame{.marker = "[TOOL_CALLS]", .middle = "[ARGS]", .between = {"[TOOL_CALLS]"}, .close = {""}},
    tessera::llm::Harmony{},
    CallFrame{.marker = "<tool_call>",
              .open = "<f=",
              .middle = ">",
              .between = {"</f><f="},
              .close = {"</f></tool_call>"},
              .tags = MemberTags{.open = "<p=", .before_text = ">", .before_json = ">", .end = "\n</p>\n"}},
    CallFrame{.marker = "<c>",
              .between = {"</c><c>"},
              .close = {"</c>"},
              .tags = MemberTags{.open = "<k>", .before_text = " s>", .before_json = " j>", .end = "</v>"}}};

const tessera::llm::MemberKinds kKinds = {
    {"f", {{"a", MemberKind::kText}, {"b", MemberKind::kJson}, {"c", MemberKind::kEither}}}, {"g", {}}};

std::vector<AnswerEvent> read(const ToolForm& form, std::string_view text, size_t piece) {
    const auto reader = tessera::llm::answer_reader(form, false, kKinds);
    std::vector<AnswerEvent> all;
    const auto add = [&](std::vector<AnswerEvent> events) {
        for (AnswerEvent& event : events) {
            const bool is_more =
                !all.empty() && all.back().kind == event.kind && event.kind != AnswerEvent::Kind::kCall;
            if (is_more)
                all.back().text += event.text;
            else
                all.push_back(std::move(event));
        }
    };
    for (size_t at = 0; at < text.size(); at += piece) add(reader->push(text.substr(at, piece)));
    add(reader->finish());
    return all;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = tessera::fuzz::text_of(data, size);
    if (text.empty()) return 0;
    const ToolForm& form = kForms[data[0] % kForms.size()];
    const std::vector<AnswerEvent> whole = read(form, text.substr(1), size);
    TESSERA_CHECK(read(form, text.substr(1), 1) == whole);
    size_t calls = 0, ends = 0;
    for (const AnswerEvent& event : whole) {
        calls += event.kind == AnswerEvent::Kind::kCall ? 1 : 0;
        ends += event.kind == AnswerEvent::Kind::kCallEnd ? 1 : 0;
        TESSERA_CHECK(ends <= calls);
    }
    return 0;
}

std::vector<std::string> tessera::fuzz::seeds() {
    const std::string call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"}\"}}\n</tool_call>";
    return {
        "\x0aSo "
        "<tool_call><f=f><p=a>1\n</p>\n<p=b>[\"\n</p>\n\"]\n</p>\n<p=c>x\n</p>\n</f><f=g></f></tool_call>",
        "\x0b<c>f<k>c s>{</v><k>b j>{}</v></c><c>g</c>",
        "\x06<think>so</think>\nYes " + call + "\n" + call,
        "\x07{\"name\": \"f\", \"parameters\": {\"a\": [1, {}]}}",
        "\x08Hm. [TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{\"a\": 1}",
        "\x09<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary to=functions.f "
        "<|constrain|>json<|message|>{\"a\": 1}<|call|>"};
}
