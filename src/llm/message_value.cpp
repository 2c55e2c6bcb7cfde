#include "llm/message_value.h"

#include <limits>
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
        const bool is_role = open_.size() == 1 &&
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

    std::vector<Open> open_;
    Value result_;
};

}  // namespace

Value message_value(const ChatMessage& message) {
    if (message.fields.empty())
        return Value::object(
            {{"role", Value::text(message.role)}, {"content", Value::foreign(message.content)}});
    ValueBuilder builder;
    parse_json_events(message.fields, kWhere, kMessageBounds, builder);
    Value value = builder.take_result();
    if (value.dict() == nullptr) throw Error(kWhere, "", "is no JSON object", "write {\"role\": .., ..}");
    for (const auto& [key, item] : value.dict()->items)
        if (key.text()->bytes() == "role" && item.text() != nullptr) return value;
    throw Error(kWhere, "role", "is missing, or no text", "write {\"role\": \"user\", ..}");
}

}  // namespace tessera::llm
