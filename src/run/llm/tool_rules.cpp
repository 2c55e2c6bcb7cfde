#include "run/llm/tool_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "run/llm/answer_network.h"
#include "run/llm/form_rules.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::llm {
namespace {

using grammar::NodeId;
using State = AnswerNetwork::State;

constexpr size_t kMostTools = 128;
constexpr size_t kLongestName = 64;
/// Calls of one answer.
constexpr int64_t kMostCalls = 32;

[[noreturn]] void refuse(const std::string& entity, const std::string& problem, const std::string& advice) {
    throw Error("tools", entity, problem, advice, ErrorKind::kUsage);
}

/// The functions that the answer may call.
std::vector<Tool> chosen_tools(std::span<const Tool> tools, const ToolChoice& choice) {
    if (tools.size() > kMostTools)
        refuse("", fmt::format("are {}, expected at most {}", tools.size(), kMostTools), "send fewer");
    std::set<std::string> names;
    std::vector<Tool> chosen;
    for (const Tool& tool : tools) {
        const bool is_name = !tool.name.empty() && tool.name.size() <= kLongestName &&
                             std::all_of(tool.name.begin(), tool.name.end(), is_name_character);
        if (!is_name)
            refuse(shown(tool.name), "is no name of a function",
                   fmt::format("write 1 to {} letters, digits, `_`, `-` and `.`", kLongestName));
        if (!names.insert(tool.name).second) refuse(tool.name, "comes twice", "give each a name of its own");
        const bool is_allowed =
            choice.allowed.empty() ||
            std::find(choice.allowed.begin(), choice.allowed.end(), tool.name) != choice.allowed.end();
        if (is_allowed) chosen.push_back(tool);
    }
    for (const std::string& name : choice.allowed)
        if (!names.contains(name)) refuse(shown(name), "is chosen, and is none of them", "name one of them");
    if (chosen.empty() && choice.use == ToolChoice::Use::kRequired)
        refuse("", "are none, and a call is required", "give at least one");
    return chosen;
}

/// The grammar of answers in which calls are in a frame.
class FrameRules {
public:
    FrameRules(const CallFrame& frame, const Tokenizer& tokenizer, const ToolChoice& choice)
        : frame_(frame), choice_(choice), rules_(tokenizer), network_(rules_.rules()) {}

    ToolRules make(const std::vector<Tool>& tools, bool is_thinking) && {
        const bool is_free = choice_.use != ToolChoice::Use::kRequired;
        const State first = network_.add_state(is_free);
        if (!tools.empty() && choice_.use != ToolChoice::Use::kNone) add_calls(tools);
        // Behind a thought, and at the beginning of an answer without.
        const State begin = is_thinking ? network_.add_state(is_free) : first;
        if (frame_.thinking) thought_ = is_thinking ? first : network_.add_state(is_free);
        add_answer(begin);
        if (thought_) {
            State behind = begin;
            if (!is_free) network_.add_edge(behind = network_.add_state(false), rules_.blanks(), begin);
            network_.add_region(*thought_,
                                {.marks = {mark(frame_.thinking->close, behind)}, .is_final = is_free});
        }
        return {rules_.take(rules_.rules().add(network_.take())), std::move(kinds_)};
    }

private:
    AnswerNetwork::Mark mark(const std::string& text, std::optional<State> target) {
        return {.text = text, .is_token = rules_.is_special(text), .target = target};
    }

    void add_answer(State begin) {
        std::vector<AnswerNetwork::Mark> marks = {mark(frame_.marker, calls_)};
        // The text that looks like the token would be taken for it.
        if (marks.front().is_token) marks.push_back({.text = frame_.marker});
        for (const std::string& prefix : frame_.prefixes) {
            const State behind = network_.add_state(false);
            if (calls_) network_.add_edge(behind, rules_.text(frame_.marker), *calls_);
            marks.push_back(mark(prefix, calls_ ? std::optional(behind) : std::nullopt));
        }
        if (thought_) marks.push_back(mark(frame_.thinking->open, thought_));
        if (choice_.use == ToolChoice::Use::kRequired)
            return network_.add_region(begin, {.marks = marks, .searches = false, .is_final = false});
        if (!frame_.is_bare) return network_.add_region(begin, {.marks = marks});
        const State text = network_.add_state(true);
        network_.add_region(text, {});
        network_.add_region(begin,
                            {.marks = marks, .searches = false, .otherwise = text, .skips_blanks = true});
    }

    /// All that follows the marker.
    void add_calls(const std::vector<Tool>& tools) {
        std::vector<NodeId> ways;
        for (const Tool& tool : tools)
            ways.push_back(
                rules_.sequence({rules_.text(tool.name + frame_.middle),
                                 frame_.tags ? rules_.members(tool, *frame_.tags, kinds_[tool.name])
                                             : rules_.arguments(tool)}));
        const NodeId call = rules_.rule("call", rules_.choice(std::move(ways)));
        std::vector<NodeId> parts = {rules_.text(frame_.open), call};
        if (choice_.is_parallel && !frame_.between.empty())
            parts.push_back(
                rules_.repeated(rules_.sequence({rules_.text_of(frame_.between), call}), 0, kMostCalls - 1));
        parts.push_back(rules_.text_of(frame_.close));
        calls_ = network_.add_state(false);
        network_.add_edge(*calls_, rules_.sequence(std::move(parts)), network_.add_state(true));
    }

    const CallFrame& frame_;
    const ToolChoice& choice_;
    FormRules rules_;
    AnswerNetwork network_;
    std::optional<State> calls_;
    std::optional<State> thought_;
    MemberKinds kinds_;
};

/// Messages of thoughts and remarks, then a call, or the final text.
grammar::RuleSet harmony_rules(const std::vector<Tool>& tools, ToolChoice::Use use,
                               const Tokenizer& tokenizer) {
    FormRules rules(tokenizer);
    const NodeId aside = rules.sequence({rules.text("<|channel|>"), rules.text_of({"analysis", "commentary"}),
                                         rules.text("<|message|>"), rules.any_text(),
                                         rules.text("<|end|><|start|>assistant")});
    std::vector<NodeId> ends;
    if (use != ToolChoice::Use::kRequired)
        ends.push_back(rules.sequence({rules.text("<|channel|>final<|message|>"), rules.any_text()}));
    for (const Tool& tool : use == ToolChoice::Use::kNone ? std::vector<Tool>() : tools) {
        const std::string to = " to=functions." + tool.name;
        ends.push_back(
            rules.sequence({rules.text_of({"<|channel|>commentary" + to, to + "<|channel|>commentary"}),
                            rules.text_of({" <|constrain|>json<|message|>", "<|constrain|>json<|message|>",
                                           " json<|message|>", "<|message|>"}),
                            rules.arguments(tool)}));
    }
    return rules.take(rules.sequence({rules.repeated(aside, 0, std::nullopt), rules.choice(ends)}));
}

}  // namespace

ToolRules tool_rules(const ToolForm& form, std::span<const Tool> tools, const ToolChoice& choice,
                     bool is_thinking, const Tokenizer& tokenizer) {
    const std::vector<Tool> chosen = chosen_tools(tools, choice);
    const auto* frame = std::get_if<CallFrame>(&form);
    if (frame == nullptr) return {harmony_rules(chosen, choice.use, tokenizer)};
    return FrameRules(*frame, tokenizer, choice).make(chosen, is_thinking && frame->thinking);
}

}  // namespace tessera::llm
