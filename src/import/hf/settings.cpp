#include "import/hf/settings.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "import/hf/python_numbers.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// The words of a list that is written as one text: "c2p|p2c".
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const size_t end = std::min(text.find('|'), text.size());
        std::string_view word = text.substr(0, end);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        if (!word.empty()) words.emplace_back(word);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

}  // namespace

JsonCursor HfSettings::required(const std::string& field, const std::string& expected) const {
    const auto found = find(field);
    if (!found)
        throw Error(path(), object_.place_of(field), fmt::format("is missing, expected {}", expected));
    return *found;
}

bool HfSettings::has_integers(const std::string& field) const {
    const auto found = find(field);
    return found && (found->is_integer() || found->is_array());
}

int64_t HfSettings::integer(const std::string& field, IntegerBounds bounds, std::optional<int64_t> absent) {
    if (absent && !has(field)) return *absent;
    return required(field, fmt::format("an integer from {} to {}", bounds.low, bounds.high))
        .integer(bounds.low, bounds.high);
}

double HfSettings::real(const std::string& field, RealBounds bounds, std::optional<double> absent) {
    if (absent && !has(field)) return *absent;
    return required(field, fmt::format("a number from {} to {}", bounds.low, bounds.high))
        .real(bounds.low, bounds.high);
}

bool HfSettings::boolean(const std::string& field, bool absent) {
    const auto found = find(field);
    return found ? found->boolean() : absent;
}

std::optional<std::string> HfSettings::text(const std::string& field) {
    const auto found = find(field);
    return found ? std::optional(found->string()) : std::nullopt;
}

std::vector<std::string> HfSettings::texts(const std::string& field) {
    const auto found = find(field);
    std::vector<std::string> all;
    if (found && found->is_string()) return words_of(found->string());
    if (found)
        for (const JsonCursor& each : found->items()) all.push_back(each.string());
    return all;
}

std::vector<int64_t> HfSettings::integers(const std::string& field, IntegerBounds bounds) {
    const auto found = find(field);
    std::vector<int64_t> all;
    if (!found) return all;
    if (!found->is_array()) return {found->integer(bounds.low, bounds.high)};
    for (const JsonCursor& each : found->items()) all.push_back(each.integer(bounds.low, bounds.high));
    return all;
}

std::vector<double> HfSettings::reals(const std::string& field, RealBounds bounds) {
    std::vector<double> all;
    if (const auto found = find(field))
        for (const JsonCursor& each : found->items()) {
            const auto word = each.is_object() ? each.find(kFloatMember) : std::nullopt;
            const bool is_infinite = word && word->is_string() && word->string() == "Infinity";
            if (is_infinite && std::isinf(bounds.high))
                all.push_back(bounds.high);
            else
                all.push_back(each.real(bounds.low, bounds.high));
        }
    return all;
}

bool HfSettings::is_stated(const std::string& field) const {
    const std::vector<std::string> keys = object_.keys();
    return std::ranges::find(keys, field) != keys.end();
}

std::optional<HfSettings> HfSettings::object(const std::string& field) {
    const auto found = find(field);
    if (!found) return std::nullopt;
    if (!found->is_object()) found->fail_expected("an object");
    return HfSettings(*found, findings_);
}

bool HfSettings::is_list(const std::string& field) const {
    const auto found = find(field);
    return found && found->is_array();
}

bool HfSettings::is_boolean(const std::string& field) const {
    const std::string text = shown(field);
    return text == "true" || text == "false";
}

bool HfSettings::is_text(const std::string& field) const {
    return shown(field).starts_with('"');
}

std::string HfSettings::shown(const std::string& field) const {
    const auto found = find(field);
    return found ? found->shown() : "null";
}

void HfSettings::ignore_all() {
    for (const std::string& field : object_.keys()) ignore(field);
}

std::vector<std::string> HfSettings::objects() const {
    std::vector<std::string> fields;
    for (const std::string& field : object_.keys())
        if (const auto found = object_.peek(field); found && found->is_object()) fields.push_back(field);
    return fields;
}

std::string HfSettings::described(const std::string& field) const {
    return fmt::format("{} = {}", object_.place_of(field), shown(field));
}

void HfSettings::refuse(const std::string& field, const std::string& what) {
    findings_.unsupported.push_back(fmt::format("{}: {}", described(field), what));
}

void HfSettings::warn(const std::string& field, const std::string& what) {
    findings_.warnings.push_back(fmt::format("{}: {}", described(field), what));
}

void HfSettings::refuse_unless_neutral(const std::string& field, const std::string& what) {
    const auto found = object_.find(field);
    if (!found || found->is_off() || (found->is_empty() && !found->is_string())) return;
    refuse(field, what);
}

void HfSettings::refuse_unless_number(const std::string& field, double neutral, const std::string& what) {
    const auto found = object_.find(field);
    if (found && !found->is_equal(neutral)) refuse(field, what);
}

std::vector<UnreadSetting> HfSettings::unread() const {
    std::vector<UnreadSetting> all;
    for (const JsonCursor& each : object_.unread())
        all.push_back({.name = each.place(),
                       .value = each.shown(),
                       .is_empty = each.is_empty(),
                       .is_off = each.is_off()});
    return all;
}

}  // namespace tessera::import
