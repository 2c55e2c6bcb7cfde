#include "import/hf/settings.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "support/error.h"

namespace tessera {
namespace {

using nlohmann::json;

/// A value in a message, short however long it is.
std::string shown(const json& value) {
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    constexpr size_t kLongest = 60;
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

/// Empty for numbers that no int64 holds.
std::optional<int64_t> integer_of(const json& value) {
    if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
        return std::nullopt;
    if (value.is_number_integer()) return value.get<int64_t>();
    return std::nullopt;
}

}  // namespace

HfSettings::HfSettings(const json& object, std::string path, Findings& findings, std::string prefix)
    : object_(object), path_(std::move(path)), findings_(findings), prefix_(std::move(prefix)) {}

const json* HfSettings::find(const std::string& field) {
    read_.insert(field);
    const auto found = object_.find(field);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void HfSettings::fail(const std::string& field, const json* found, const std::string& expected) const {
    throw Error(path_, prefix_ + field,
                found ? fmt::format("is {}, expected {}", shown(*found), expected)
                      : fmt::format("is missing, expected {}", expected));
}

bool HfSettings::has(const std::string& field) {
    return find(field) != nullptr;
}

int64_t HfSettings::integer(const std::string& field, IntegerBounds bounds, std::optional<int64_t> absent) {
    const json* found = find(field);
    if (!found && absent) return *absent;
    const auto value = found ? integer_of(*found) : std::nullopt;
    if (!value || *value < bounds.low || *value > bounds.high)
        fail(field, found, fmt::format("an integer from {} to {}", bounds.low, bounds.high));
    return *value;
}

double HfSettings::real(const std::string& field, RealBounds bounds, std::optional<double> absent) {
    const json* found = find(field);
    if (!found && absent) return *absent;
    if (!found || !found->is_number() || !(found->get<double>() >= bounds.low) ||
        !(found->get<double>() <= bounds.high))
        fail(field, found, fmt::format("a number from {} to {}", bounds.low, bounds.high));
    return found->get<double>();
}

bool HfSettings::boolean(const std::string& field, bool absent) {
    const json* found = find(field);
    if (!found) return absent;
    if (!found->is_boolean()) fail(field, found, "true or false");
    return found->get<bool>();
}

std::optional<std::string> HfSettings::text(const std::string& field) {
    const json* found = find(field);
    if (!found) return std::nullopt;
    if (!found->is_string()) fail(field, found, "text");
    return found->get<std::string>();
}

std::vector<std::string> HfSettings::texts(const std::string& field) {
    const json* found = find(field);
    std::vector<std::string> all;
    if (!found) return all;
    if (!found->is_array()) fail(field, found, "a list of text");
    for (const json& each : *found) {
        if (!each.is_string()) fail(field, found, "a list of text");
        all.push_back(each.get<std::string>());
    }
    return all;
}

std::vector<int64_t> HfSettings::integers(const std::string& field, IntegerBounds bounds) {
    const json* found = find(field);
    if (!found) return {};
    std::vector<int64_t> all;
    for (const json& each : found->is_array() ? *found : json::array({*found})) {
        const auto value = integer_of(each);
        if (!value || *value < bounds.low || *value > bounds.high)
            fail(field, found,
                 fmt::format("an integer from {} to {}, or a list of them", bounds.low, bounds.high));
        all.push_back(*value);
    }
    return all;
}

std::optional<HfSettings> HfSettings::object(const std::string& field) {
    const json* found = find(field);
    if (!found) return std::nullopt;
    if (!found->is_object()) fail(field, found, "an object");
    return HfSettings(*found, path_, findings_, prefix_ + field + ".");
}

void HfSettings::refuse(const std::string& field, const std::string& what) {
    const json* found = find(field);
    findings_.unsupported.push_back(
        fmt::format("{}{} = {}: {}", prefix_, field, found ? shown(*found) : "null", what));
}

void HfSettings::refuse_unless_neutral(const std::string& field, const std::string& what) {
    const json* found = find(field);
    if (!found || *found == json(false) || (found->is_number() && found->get<double>() == 0)) return;
    if (found->is_structured() && found->empty()) return;
    refuse(field, what);
}

void HfSettings::refuse_unless_number(const std::string& field, double neutral, const std::string& what) {
    const json* found = find(field);
    if (found && !(found->is_number() && found->get<double>() == neutral)) refuse(field, what);
}

std::vector<std::string> HfSettings::unread() const {
    std::vector<std::string> fields;
    for (const auto& item : object_.items())
        if (!read_.contains(item.key())) fields.push_back(item.key());
    return fields;
}

}  // namespace tessera
