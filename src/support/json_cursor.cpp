#include <utility>

#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json.h"
#include "support/json_document.h"
#include "support/shown.h"

namespace tessera {
namespace {

/// Empty if it is no integer, or does not fit into an int64.
std::optional<int64_t> signed_integer(const nlohmann::json& value) {
    if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>())) return std::nullopt;
    if (value.is_number_integer()) return value.get<int64_t>();
    return std::nullopt;
}

}  // namespace

JsonCursor::JsonCursor(std::shared_ptr<Document> document, const nlohmann::json& value, std::string place)
    : document_(std::move(document)), value_(&value), place_(std::move(place)) {}

const std::string& JsonCursor::file() const {
    return document_->file;
}

std::string JsonCursor::shown() const {
    return tessera::shown(value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

void JsonCursor::fail(std::string problem, std::string advice) const {
    throw Error(file(), place_, std::move(problem), std::move(advice));
}

void JsonCursor::fail_expected(std::string_view expected) const {
    fail(fmt::format("is {}, expected {}", shown(), expected));
}

std::string JsonCursor::place_of(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

std::optional<JsonCursor> JsonCursor::peek(std::string_view key) const {
    if (!is_object()) fail_expected("an object");
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return JsonCursor(document_, *found, place_of(key));
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
    if (!is_object()) fail_expected("an object");
    document_->opened.insert(value_);
    if (const auto found = value_->find(key); found != value_->end()) document_->read.insert(&*found);
    return peek(key);
}

JsonCursor JsonCursor::at(std::string_view key) const {
    const auto found = find(key);
    if (!found) throw Error(file(), place_of(key), "is missing");
    return *found;
}

std::vector<JsonCursor> JsonCursor::items() const {
    if (!is_array()) fail_expected("a list");
    std::vector<JsonCursor> result;
    result.reserve(value_->size());
    for (size_t i = 0; i < value_->size(); ++i)
        result.push_back(JsonCursor(document_, (*value_)[i], fmt::format("{}[{}]", place_, i)));
    return result;
}

std::vector<std::string> JsonCursor::keys() const {
    if (!is_object()) fail_expected("an object");
    std::vector<std::string> result;
    for (const auto& item : value_->items()) result.push_back(item.key());
    return result;
}

std::string JsonCursor::string() const {
    if (!is_string()) fail_expected("a text");
    return value_->get<std::string>();
}

bool JsonCursor::boolean() const {
    if (!value_->is_boolean()) fail_expected("true or false");
    return value_->get<bool>();
}

int64_t JsonCursor::integer(int64_t low, int64_t high, std::string_view expected) const {
    const auto value = signed_integer(*value_);
    if (value && *value >= low && *value <= high) return *value;
    if (!expected.empty()) fail_expected(expected);
    if (high == INT64_MAX)
        fail_expected(low == INT64_MIN ? "an integer of 64 bits" : fmt::format("an integer from {} on", low));
    fail_expected(fmt::format("an integer from {} to {}", low, high));
}

double JsonCursor::real(double low, double high) const {
    const double value = is_number() ? value_->get<double>() : 0;
    if (!is_number() || !(value >= low) || !(value <= high))
        fail_expected(fmt::format("a number from {} to {}", low, high));
    return value;
}

bool JsonCursor::is_string() const {
    return value_->is_string();
}
bool JsonCursor::is_array() const {
    return value_->is_array();
}
bool JsonCursor::is_object() const {
    return value_->is_object();
}
bool JsonCursor::is_number() const {
    return value_->is_number();
}
bool JsonCursor::is_integer() const {
    return value_->is_number_integer();
}
bool JsonCursor::is_empty() const {
    return is_string() ? value_->get_ref<const std::string&>().empty() : value_->empty();
}
bool JsonCursor::is_equal(double number) const {
    return is_number() && value_->get<double>() == number;
}
bool JsonCursor::is_false() const {
    return value_->is_boolean() && !value_->get<bool>();
}

std::string JsonCursor::string_or(std::string_view key, std::string_view otherwise) const {
    const auto found = find(key);
    return found ? found->string() : std::string(otherwise);
}

bool JsonCursor::boolean_or(std::string_view key, bool otherwise) const {
    const auto found = find(key);
    return found ? found->boolean() : otherwise;
}

std::vector<JsonCursor> JsonCursor::unread() const {
    std::vector<JsonCursor> all;
    add_unread(all);
    return all;
}

void JsonCursor::add_unread(std::vector<JsonCursor>& unread) const {
    if (!is_object()) return;
    for (const auto& item : value_->items()) {
        const nlohmann::json& value = item.value();
        const JsonCursor member(document_, value, place_of(item.key()));
        if (!document_->read.contains(&value))
            unread.push_back(member);
        else if (document_->opened.contains(&value))
            member.add_unread(unread);
    }
}

}  // namespace tessera
