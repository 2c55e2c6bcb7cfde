#include "run/grammar/schema_value.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "support/error.h"
#include "support/json.h"
#include "support/shown.h"

namespace tessera::grammar {
namespace {

using Kind = SchemaValue::Kind;

class SchemaBuilder final : public JsonEvents {
public:
    explicit SchemaBuilder(const std::string& where) : where_(where) {}

    void null() override { add({.kind = Kind::kNull, .text = "null"}); }
    void boolean(bool value) override { add({.kind = Kind::kBoolean, .text = value ? "true" : "false"}); }
    void negative(int64_t value) override { add({.kind = Kind::kInteger, .text = std::to_string(value)}); }
    void natural(uint64_t value) override { add({.kind = Kind::kInteger, .text = std::to_string(value)}); }
    void real(double value) override { add({.kind = Kind::kReal, .text = fmt::format("{}", value)}); }
    void text(std::string& value) override { add({.kind = Kind::kText, .text = std::move(value)}); }
    void begin_object() override { begin(Kind::kObject); }
    void key(std::string& name) override {
        if (!names_.back().insert(name).second)
            throw Error(where_, open_.back()->place, fmt::format("has the key {} twice", shown(name)));
        open_.back()->keys.push_back(std::move(name));
    }
    void end_object() override { end(); }
    void begin_array() override { begin(Kind::kList); }
    void end_array() override { end(); }

    SchemaValue take() { return std::move(root_); }

private:
    // Elements of a list move when it grows, but only the last one is ever open.
    SchemaValue& add(SchemaValue value) {
        if (open_.empty()) return root_ = std::move(value);
        SchemaValue& parent = *open_.back();
        if (parent.is(Kind::kObject))
            value.place = parent.place.empty() ? parent.keys.back()
                                               : fmt::format("{}.{}", parent.place, parent.keys.back());
        else
            value.place = fmt::format("{}[{}]", parent.place, parent.items.size());
        parent.items.push_back(std::move(value));
        return parent.items.back();
    }
    void begin(Kind kind) {
        open_.push_back(&add({.kind = kind}));
        names_.emplace_back();
    }
    void end() {
        open_.pop_back();
        names_.pop_back();
    }

    const std::string& where_;
    SchemaValue root_;
    std::vector<SchemaValue*> open_;
    std::vector<std::set<std::string>> names_;
};

}  // namespace

const SchemaValue* SchemaValue::find(std::string_view key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<size_t>(found - keys.begin())];
}

std::string json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        switch (c) {
            case '"':
                result += "\\\"";
                break;
            case '\\':
                result += "\\\\";
                break;
            case '\n':
                result += "\\n";
                break;
            case '\r':
                result += "\\r";
                break;
            case '\t':
                result += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20)
                    result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                else
                    result += c;
        }
    }
    return result + '"';
}

std::string SchemaValue::json() const {
    if (is(Kind::kText)) return json_string(text);
    if (!is(Kind::kList) && !is(Kind::kObject)) return text;
    std::string result(1, is(Kind::kList) ? '[' : '{');
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) result += ',';
        if (is(Kind::kObject)) result += json_string(keys[i]) + ':';
        result += items[i].json();
    }
    return result + (is(Kind::kList) ? ']' : '}');
}

SchemaValue parse_schema_value(std::string_view text, const std::string& where, const JsonBounds& bounds) {
    SchemaBuilder builder(where);
    parse_json_events(text, where, bounds, builder);
    return builder.take();
}

}  // namespace tessera::grammar
