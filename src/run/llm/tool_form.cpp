#include "run/llm/tool_form.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "run/llm/tag_form.h"
#include "run/llm/text_match.h"
#include "support/error.h"

// Three conversations show the form: an assistant that says something, one that calls a function, and one
// that calls two. The common beginning of the first two is the head of the message; the rest is what a model
// writes, up to the token that ends it.
//
//     <|im_start|>assistant\n~said~<|im_end|>\n
//     <|im_start|>assistant\n<tool_call>\n{"name": "probe_one", "arguments": {"probe":
//     "v"}}\n</tool_call><|im_end|>\n
//                            open          name       middle    arguments      close              end

namespace tessera::llm {
namespace {

constexpr const char* kTool = "probe_tool";
constexpr std::array<const char*, 2> kNames = {"probe_one", "probe_two"};
constexpr std::array<const char*, 2> kIds = {"probe0001", "probe0002"};
/// A text that begins and ends like nothing that a template writes.
constexpr const char* kSaid = "~said~";
constexpr const char* kArguments = R"({"probe_key": "probe_value"})";
constexpr std::string_view kKey = R"("probe_key")", kValue = R"("probe_value")";
constexpr std::string_view kPrintedArguments = "{'probe_key': 'probe_value'}";
constexpr const char* kUnknownArguments =
    "does not write calls of functions, or not with their arguments as a JSON object or as members in tags";
constexpr const char* kForms =
    "a template that writes `tools`, and calls as a name and arguments, which are a JSON object (as those of "
    "Qwen2.5 and 3, Hermes, Llama 3.1 to 3.3, Mistral and gpt-oss are) or members in tags (Qwen3-Coder, GLM "
    "4.5, MiniMax-M2), is needed: send the request without tools, or give another template with "
    "--chat-template";

std::vector<ChatMessage> conversation(ChatMessage answer) {
    return {{"user", "Probe."}, std::move(answer)};
}

ChatMessage calling(size_t count, const char* arguments = kArguments) {
    ChatMessage message{"assistant", ""};
    for (size_t i = 0; i < count; ++i) message.tool_calls.push_back({kIds[i], kNames[i], arguments});
    return message;
}

/// The text of a conversation; empty if the template refuses it.
std::string probe(const ChatTemplate& chat, ChatMessage answer, ArgumentsForm arguments) {
    ChatSettings settings{.begins_answer = false};
    settings.tools.push_back({.name = kTool, .description = "Probes.", .parameters = {}});
    try {
        return chat.render(conversation(std::move(answer)), settings, arguments).bytes();
    } catch (const Error&) {
        return {};
    }
}

struct Range {
    size_t begin = 0, end = 0;
};

/// Position of a call in a text.
struct Found {
    Range name, arguments;
};

size_t skip_blanks(std::string_view text, size_t at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at;
}

/// The JSON object {"probe_key": "probe_value"}, with any blanks.
std::optional<Range> find_arguments(std::string_view text, size_t from) {
    const size_t key = text.find(kKey, from);
    if (key == std::string::npos) return std::nullopt;
    size_t begin = key;
    while (begin > from && std::isspace(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    if (begin == from || text[begin - 1] != '{') return std::nullopt;
    size_t at = skip_blanks(text, key + kKey.size());
    if (at == text.size() || text[at] != ':') return std::nullopt;
    at = skip_blanks(text, at + 1);
    if (!text.substr(at).starts_with(kValue)) return std::nullopt;
    at = skip_blanks(text, at + kValue.size());
    if (at == text.size() || text[at] != '}') return std::nullopt;
    return Range{begin - 1, at + 1};
}

/// `tags`: of the arguments; none: they are JSON.
std::optional<Found> find_call(std::string_view text, size_t from, const std::string& name,
                               const std::optional<MemberTags>& tags = {}) {
    const size_t at = text.find(name, from);
    if (at == std::string::npos) return std::nullopt;
    const size_t end = at + name.size();
    if (tags) {
        const std::string members = tags->open + kProbeKey + tags->before_text + kProbeValue + tags->end;
        const size_t begin = text.find(members, end);
        if (begin == std::string::npos) return std::nullopt;
        return Found{{at, end}, {begin, begin + members.size()}};
    }
    const auto arguments = find_arguments(text, end);
    if (!arguments) return std::nullopt;
    return Found{{at, end}, *arguments};
}

/// The text with the ids of the calls as holes.
std::string with_holes(std::string text) {
    for (const char* id : kIds)
        for (size_t at = text.find(id); at != std::string::npos; at = text.find(id))
            text.replace(at, kIdLength, kIdLength, kIdCharacter);
    return text;
}

/// The text and, if a member of a JSON object has the id, the text without it: models leave it out.
std::vector<std::string> ways(const std::string& text) {
    std::vector<std::string> ways = {text};
    const std::string member = R"(, "id": ")" + std::string(kIdLength, kIdCharacter) + "\"";
    if (const size_t at = text.find(member); at != std::string::npos)
        ways.push_back(std::string(text).erase(at, member.size()));
    return ways;
}

std::string_view trimmed_left(std::string_view text) {
    return text.substr(skip_blanks(text, 0));
}

/// The `<tag>` or `[TAG]` that the text begins with; empty if there is none.
std::string_view leading_tag(std::string_view text) {
    if (text.empty() || (text[0] != '<' && text[0] != '[')) return {};
    const size_t end = text.find(text[0] == '<' ? '>' : ']');
    if (end == std::string::npos) return {};
    const std::string_view tag = text.substr(0, end + 1);
    const bool is_plain = std::none_of(tag.begin(), tag.end(), [](char c) {
        return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '"' || c == '{';
    });
    return is_plain ? tag : std::string_view();
}

std::string_view leading_token(std::string_view text, const Tokenizer& tokenizer) {
    size_t longest = 0;
    for (const AddedToken& token : tokenizer.added_tokens())
        if (text.starts_with(token.content)) longest = std::max(longest, token.content.size());
    return text.substr(0, longest);
}

/// Divides the text before the first name.
void set_marker(CallFrame& frame, std::string_view text, const Tokenizer& tokenizer) {
    std::string_view marker = leading_token(text, tokenizer);
    if (marker.empty()) marker = leading_tag(text);
    if (marker.empty()) {
        frame.is_bare = true;
        // A model that departs from its template is led back early.
        marker = text.substr(0, text.find('"') == std::string::npos ? text.size() : text.find('"') + 1);
        constexpr std::string_view kPython = "<|python_tag|>";  // Llama's, before any call
        if (const auto id = tokenizer.find(kPython); id && tokenizer.is_special(*id))
            frame.prefixes.emplace_back(kPython);
    }
    frame.marker = std::string(marker);
    frame.open = with_holes(std::string(text.substr(marker.size())));
}

/// The text up to the first token that ends an answer, without blanks before it.
std::string_view before_end(std::string_view text, const std::vector<std::string>& ends) {
    size_t end = text.size();
    for (const std::string& one : ends) end = std::min(end, text.find(one));
    while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
    return text.substr(0, end);
}

std::optional<ThinkMarks> think_marks(const ChatTemplate& chat) {
    for (const ThinkMarks& marks : {ThinkMarks{"<think>", "</think>"}, ThinkMarks{"[THINK]", "[/THINK]"}})
        if (chat.literal_text().find(marks.close) != std::string::npos) return marks;
    return std::nullopt;
}

size_t alike(std::string_view a, std::string_view b) {
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// The place at which the answers begin to differ, but before the token or the tag whose beginning they
/// share.
size_t head_of(std::string_view said, std::string_view one, const Tokenizer& tokenizer) {
    size_t head = alike(said, one);
    for (const AddedToken& token : tokenizer.added_tokens())
        for (size_t at = one.find(token.content); at < head; at = one.find(token.content, at + 1))
            if (at + token.content.size() > head) head = at;
    const size_t tag = head == 0 ? std::string_view::npos : one.find_last_of("<[", head - 1);
    const bool is_inside = tag != std::string_view::npos && tag + leading_tag(one.substr(tag)).size() > head;
    return is_inside ? tag : head;
}

[[noreturn]] void refuse(const ChatTemplate& chat, const std::string& problem) {
    throw Error(chat.where(), "", "the chat template " + problem, kForms, ErrorKind::kUsage);
}

/// The tags of members, of which calls with other arguments tell more.
/// @param one the text of a conversation with a call; its message differs from others from `head` on
MemberTags tags_of(const ChatTemplate& chat, const std::string& one, size_t head, ArgumentsForm form) {
    const auto behind_name = [&](std::string_view text) {
        const size_t at = text.find(kNames[0], head);
        return at == std::string_view::npos ? std::string_view() : text.substr(at + std::strlen(kNames[0]));
    };
    const std::string two = probe(chat, calling(1, kTwoMembers), form),
                      number = probe(chat, calling(1, kNumberMember), form),
                      list = probe(chat, calling(1, kListMember), form),
                      none = probe(chat, calling(1, "{}"), form);
    const auto tags = find_tags({.one = behind_name(one),
                                 .two = behind_name(two),
                                 .number = behind_name(number),
                                 .list = behind_name(list),
                                 .none = behind_name(none)});
    if (!tags) refuse(chat, kUnknownArguments);
    return *tags;
}

/// The text between two calls; empty if the template does not write two, or not as it writes one.
std::optional<std::string> find_between(const std::string& text, size_t head, const CallFrame& frame,
                                        const std::vector<std::string>& ends) {
    const auto first = find_call(text, head, kNames[0], frame.tags);
    if (!first) return std::nullopt;
    const auto second = find_call(text, first->arguments.end, kNames[1], frame.tags);
    if (!second) return std::nullopt;
    const auto part = [&](size_t begin, size_t end) { return with_holes(text.substr(begin, end - begin)); };
    const bool is_alike =
        part(second->name.end, second->arguments.begin) == frame.middle &&
        with_holes(std::string(before_end(std::string_view(text).substr(second->arguments.end), ends))) ==
            frame.close.front();
    if (!is_alike) return std::nullopt;
    return part(first->arguments.end, second->name.begin);
}

}  // namespace

std::string_view MemberTags::mark() const {
    const std::string_view text = std::string_view(end).substr(skip_blanks(end, 0));
    return text.substr(0, trimmed_size(text));
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

ArgumentsForm arguments_form(const ChatTemplate& chat) {
    const std::string of_object = probe(chat, calling(1), ArgumentsForm::kObject);
    if (find_call(of_object, 0, kNames[0])) return ArgumentsForm::kObject;
    // A template that writes the members of an object in a way of its own means that way also where it would
    // copy a text. One that prints the whole object as Python does wants a text.
    const bool has_members = of_object.find(kProbeValue) != std::string::npos &&
                             of_object.find(kPrintedArguments) == std::string::npos;
    if (has_members) return ArgumentsForm::kObject;
    if (find_call(probe(chat, calling(1), ArgumentsForm::kText), 0, kNames[0])) return ArgumentsForm::kText;
    refuse(chat, kUnknownArguments);
}

ToolForm tool_form(const ChatTemplate& chat, const Tokenizer& tokenizer) {
    const std::string said = probe(chat, {"assistant", kSaid}, ArgumentsForm::kObject);
    if (said.find(kTool) == std::string::npos) refuse(chat, "does not tell the model of functions");
    const ArgumentsForm form = arguments_form(chat);
    const std::string one = probe(chat, calling(1), form);
    if (one.find("<|channel|>commentary") != std::string::npos) return Harmony{};

    std::vector<std::string> ends;
    for (const TokenId id : chat.turn_ends(tokenizer, {})) ends.push_back(tokenizer.token_bytes(id));
    for (const TokenId id : tokenizer.eos()) ends.push_back(tokenizer.token_bytes(id));
    const size_t head = head_of(said, one, tokenizer);
    CallFrame frame{.thinking = think_marks(chat)};
    if (!find_call(one, 0, kNames[0])) frame.tags = tags_of(chat, one, head, form);
    const auto found = find_call(one, head, kNames[0], frame.tags);
    if (!found) refuse(chat, "writes calls of functions before the assistant's message begins");
    set_marker(frame, trimmed_left(std::string_view(one).substr(head, found->name.begin - head)), tokenizer);
    frame.middle = with_holes(one.substr(found->name.end, found->arguments.begin - found->name.end));
    frame.close =
        ways(with_holes(std::string(before_end(std::string_view(one).substr(found->arguments.end), ends))));
    const std::string behind_name = frame.tags ? frame.middle + frame.tags->open : frame.middle;
    if (frame.marker.empty() || behind_name.empty() || is_name_character(behind_name.front()))
        refuse(chat, "writes the name of a function so that it cannot be told from what is around it");
    for (const AddedToken& token : tokenizer.added_tokens())
        if (token.special && !token.content.empty() && frame.marker != token.content &&
            frame.marker.find(token.content) != std::string::npos)
            refuse(chat, "begins calls with a text in which " + token.content + " stands, a special token");
    if (frame.tags && (frame.is_bare || frame.close.front().empty()))
        refuse(chat, "writes members of arguments in tags, but neither before nor behind a call");
    if (const auto between = find_between(probe(chat, calling(2), form), head, frame, ends))
        frame.between = ways(*between);
    return frame;
}

std::optional<std::vector<TokenId>> answer_ends(const ToolForm& form, const Tokenizer& tokenizer) {
    if (std::holds_alternative<CallFrame>(form)) return std::nullopt;
    std::vector<TokenId> ids;
    for (const char* text : {"<|return|>", "<|call|>", "<|endoftext|>"})
        if (const auto id = tokenizer.find(text)) ids.push_back(*id);
    return ids;
}

}  // namespace tessera::llm
