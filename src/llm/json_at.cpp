#include "llm/json_at.h"

#include <utility>

#include "support/error.h"
#include "support/json_bounds.h"

namespace tessera {

void JsonAt::fail(std::string problem, std::string advice) const {
    throw Error(file_, place_, std::move(problem), std::move(advice));
}

void JsonAt::expect(bool holds, std::string_view type) const {
    if (!holds) fail(fmt::format("is {}, expected {}", value_->type_name(), type));
}

std::optional<JsonAt> JsonAt::find(std::string_view key) const {
    expect(value_->is_object(), "object");
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return JsonAt(*found, file_, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

JsonAt JsonAt::at(std::string_view key) const {
    const auto found = find(key);
    if (!found) fail(fmt::format("has no `{}`", key));
    return *found;
}

std::vector<JsonAt> JsonAt::items() const {
    expect(value_->is_array(), "array");
    std::vector<JsonAt> result;
    for (size_t i = 0; i < value_->size(); ++i)
        result.push_back(JsonAt((*value_)[i], file_, fmt::format("{}[{}]", place_, i)));
    return result;
}

std::vector<std::string> JsonAt::keys() const {
    expect(value_->is_object(), "object");
    std::vector<std::string> result;
    for (const auto& item : value_->items()) result.push_back(item.key());
    return result;
}

std::string JsonAt::string() const {
    expect(value_->is_string(), "string");
    return value_->get<std::string>();
}

bool JsonAt::boolean() const {
    expect(value_->is_boolean(), "boolean");
    return value_->get<bool>();
}

int64_t JsonAt::integer(int64_t low, int64_t high) const {
    expect(value_->is_number_integer(), "integer");
    const bool fits = !value_->is_number_unsigned() || std::in_range<int64_t>(value_->get<uint64_t>());
    if (!fits || value_->get<int64_t>() < low || value_->get<int64_t>() > high)
        fail(fmt::format("is {}, expected {} to {}", value_->dump(), low, high));
    return value_->get<int64_t>();
}

std::string JsonAt::string_or(std::string_view key, std::string_view otherwise) const {
    const auto found = find(key);
    return found ? found->string() : std::string(otherwise);
}

bool JsonAt::boolean_or(std::string_view key, bool otherwise) const {
    const auto found = find(key);
    return found ? found->boolean() : otherwise;
}

nlohmann::json parse_json(std::string_view text, const std::string& where) {
    check_json_bounds(text, {.bytes = size_t{64} << 20, .depth = 64}, where);
    try {
        return nlohmann::json::parse(text.begin(), text.end());
    } catch (const nlohmann::json::parse_error& error) {
        throw Error(fmt::format("{}@{}", where, error.byte), "",
                    fmt::format("is not JSON: {}", error.what()));
    } catch (const nlohmann::json::exception& error) {
        throw Error(where, "", fmt::format("is not JSON: {}", error.what()));
    }
}

}  // namespace tessera
