#include "import/hf/settings.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "support/error.h"

namespace tessera {
namespace {

using nlohmann::json;

/// A value in a message, short however long it is.
std::string shown_value(const json& value) {
    return shown(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

/// Empty for numbers that no int64 holds.
std::optional<int64_t> integer_of(const json& value) {
    if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
        return std::nullopt;
    if (value.is_number_integer()) return value.get<int64_t>();
    return std::nullopt;
}

}  // namespace

HfSettings::HfSettings(const json& object, std::string path, Findings& findings)
    : object_(&object), path_(std::move(path)), findings_(findings), reads_(std::make_shared<Reads>()) {}

const json* HfSettings::find(const std::string& field) {
    reads_->fields.insert(prefix_ + field);
    const auto found = object_->find(field);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void HfSettings::fail(const std::string& field, const json* found, const std::string& expected) const {
    throw Error(path_, prefix_ + field,
                found ? fmt::format("is {}, expected {}", shown_value(*found), expected)
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
    HfSettings inner = *this;
    inner.object_ = found;
    inner.prefix_ = prefix_ + field + ".";
    reads_->objects.insert(inner.prefix_);
    return inner;
}

std::optional<int64_t> HfSettings::integer_of_layers(const std::string& field, IntegerBounds bounds,
                                                     int64_t layers, std::optional<int64_t> absent) {
    const json* found = find(field);
    if (!found || !found->is_array()) return integer(field, bounds, absent);
    const std::vector<int64_t> all = integers(field, bounds);
    if (std::ssize(all) != layers)
        fail(field, found, fmt::format("an integer, or one for each of {} layers", layers));
    if (std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end()) return all.front();
    refuse(field, "layers of different sizes");
    return std::nullopt;
}

void HfSettings::ignore_all() {
    for (const auto& item : object_->items()) ignore(item.key());
}

std::vector<std::string> HfSettings::objects() const {
    std::vector<std::string> fields;
    for (const auto& item : object_->items())
        if (item.value().is_object()) fields.push_back(item.key());
    return fields;
}

std::string HfSettings::described(const std::string& field) {
    const json* found = find(field);
    return fmt::format("{}{} = {}", prefix_, field, found ? shown_value(*found) : "null");
}

void HfSettings::refuse(const std::string& field, const std::string& what) {
    findings_.unsupported.push_back(fmt::format("{}: {}", described(field), what));
}

void HfSettings::warn(const std::string& field, const std::string& what) {
    findings_.warnings.push_back(fmt::format("{}: {}", described(field), what));
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

std::vector<UnreadSetting> HfSettings::unread() const {
    std::vector<UnreadSetting> all;
    add_unread(*object_, prefix_, all);
    return all;
}

void HfSettings::add_unread(const json& object, const std::string& prefix,
                            std::vector<UnreadSetting>& unread) const {
    for (const auto& item : object.items()) {
        const std::string name = prefix + item.key();
        const json& value = item.value();
        if (value.is_object() && reads_->objects.contains(name + "."))
            add_unread(value, name + ".", unread);
        else if (!reads_->fields.contains(name))
            unread.push_back({.name = name,
                              .value = shown_value(value),
                              .is_empty = value.empty() || value == json(""),
                              .is_off = value == json(false) || value == json(0)});
    }
}

}  // namespace tessera
