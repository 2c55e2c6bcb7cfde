#include "run/llm/message_value.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

using jinja::Value;

constexpr JsonBounds kMessageBounds{
    .bytes = size_t{64} << 20, .values = 400'000, .depth = 32, .word = size_t{16} << 20};
constexpr const char* kWhere = "message";

/// JSON as values of a template, with what is inside of them on a stack.
class ValueBuilder final : public JsonEvents {
public:
    /// `has_role`: the `role` of the outermost object is the program's word.
    explicit ValueBuilder(bool has_role) : has_role_(has_role) {}

    void null() override { add(Value::none()); }
    void boolean(bool value) override { add(Value::of(value)); }
    void negative(int64_t value) override { add(Value::of(value)); }
    void natural(uint64_t value) override {
        if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
            throw Error(kWhere, "", fmt::format("has the integer {}, which takes more than 64 bits", value));
        add(Value::of(static_cast<int64_t>(value)));
    }
    void real(double value) override { add(Value::of(value)); }
    void text(std::string& value) override {
        const bool is_role = has_role_ && open_.size() == 1 &&
                             open_.back().keys.size() == 1 + open_.back().values.size() &&
                             open_.back().keys.back().text()->bytes() == "role";
        add(is_role ? Value::text(value) : Value::foreign(value));
    }
    void begin_object() override { open_.emplace_back(); }
    void key(std::string& name) override { open_.back().keys.push_back(Value::foreign(name)); }
    void end_object() override {
        Open done = take();
        std::vector<std::pair<Value, Value>> items;
        for (size_t i = 0; i < done.keys.size(); ++i)
            items.emplace_back(std::move(done.keys[i]), std::move(done.values[i]));
        add(Value::dict(std::move(items)));
    }
    void begin_array() override { open_.emplace_back(); }
    void end_array() override { add(Value::list(take().values)); }

    Value take_result() { return std::move(result_); }

private:
    struct Open {
        std::vector<Value> keys;  ///< of an object
        std::vector<Value> values;
    };

    void add(Value value) {
        if (open_.empty())
            result_ = std::move(value);
        else
            open_.back().values.push_back(std::move(value));
    }
    Open take() {
        Open done = std::move(open_.back());
        open_.pop_back();
        return done;
    }

    bool has_role_;
    std::vector<Open> open_;
    Value result_;
};

Value object_value(std::string_view json, const char* where, bool has_role, const char* advice) {
    ValueBuilder builder(has_role);
    parse_json_events(json, where, kMessageBounds, builder);
    Value value = builder.take_result();
    if (value.dict() == nullptr) throw Error(where, "", "is no JSON object", advice);
    return value;
}

Value call_value(const ToolCall& call, ArgumentsForm form) {
    Value arguments = object_value(call.arguments, "arguments", false, "write {\"name\": value, ..}");
    if (form == ArgumentsForm::kText) arguments = Value::foreign(call.arguments);
    return Value::object({{"id", Value::foreign(call.id)},
                          {"type", Value::text("function")},
                          {"function", Value::object({{"name", Value::foreign(call.name)},
                                                      {"arguments", std::move(arguments)}})}});
}

/// The name of the function that was called last by this id.
std::optional<std::string> called_name(std::span<const ChatMessage> before, const std::string& id) {
    for (size_t i = before.size(); i-- > 0;)
        for (const ToolCall& call : before[i].tool_calls)
            if (call.id == id) return call.name;
    return std::nullopt;
}

Value plain_message(const ChatMessage& message, ArgumentsForm arguments,
                    const std::optional<std::string>& name) {
    std::vector<std::pair<std::string, Value>> items = {{"role", Value::text(message.role)},
                                                        {"content", Value::foreign(message.content)}};
    if (!message.tool_calls.empty()) {
        std::vector<Value> calls;
        for (const ToolCall& call : message.tool_calls) calls.push_back(call_value(call, arguments));
        items.emplace_back("tool_calls", Value::list(std::move(calls)));
    }
    if (!message.tool_call_id.empty())
        items.emplace_back("tool_call_id", Value::foreign(message.tool_call_id));
    if (name) items.emplace_back("name", Value::foreign(*name));
    return Value::object(items);
}

}  // namespace

std::vector<Value> message_values(std::span<const ChatMessage> messages, ArgumentsForm arguments) {
    std::vector<Value> values;
    for (size_t i = 0; i < messages.size(); ++i) {
        const ChatMessage& message = messages[i];
        if (message.tool_call_id.empty())
            values.push_back(message_value(message, arguments));
        else
            values.push_back(
                plain_message(message, arguments, called_name(messages.first(i), message.tool_call_id)));
    }
    return values;
}

Value tool_value(const Tool& tool) {
    std::vector<std::pair<std::string, Value>> items = {{"name", Value::foreign(tool.name)}};
    if (!tool.description.empty()) items.emplace_back("description", Value::foreign(tool.description));
    items.emplace_back("parameters",
                       object_value(tool.parameters.empty() ? R"({"type": "object", "properties": {}})"
                                                            : std::string_view(tool.parameters),
                                    "parameters", false, "write a JSON schema of an object"));
    return Value::object({{"type", Value::text("function")}, {"function", Value::object(items)}});
}

Value message_value(const ChatMessage& message, ArgumentsForm arguments) {
    if (message.fields.empty()) return plain_message(message, arguments, std::nullopt);
    Value value = object_value(message.fields, kWhere, true, "write {\"role\": .., ..}");
    for (const auto& [key, item] : value.dict()->items)
        if (key.text()->bytes() == "role" && item.text() != nullptr) return value;
    throw Error(kWhere, "role", "is missing, or no text", "write {\"role\": \"user\", ..}");
}

}  // namespace tessera::llm
