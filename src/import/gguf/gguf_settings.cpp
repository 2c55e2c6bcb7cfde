#include "import/gguf/gguf_settings.h"

#include <type_traits>

#include <fmt/ranges.h>

#include "support/error.h"
#include "support/shown.h"

namespace tessera::import {
namespace {

std::string shown_value(const GgufValue* value) {
    if (!value) return "missing";
    return std::visit(
        [](const auto& data) -> std::string {
            using Data = std::decay_t<decltype(data)>;
            if constexpr (std::is_same_v<Data, std::string_view>)
                return fmt::format("\"{}\"", tessera::shown(data));
            else if constexpr (std::is_same_v<Data, GgufArray>)
                return fmt::format("{} x {}", data.count, name(data.element));
            else
                return fmt::to_string(data);
        },
        value->data);
}

bool is_zero(const GgufValue& value) {
    return std::visit(
        [](const auto& data) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(data)>>)
                return data == 0;
            else
                return false;
        },
        value.data);
}

bool holds_list(const GgufValue* value) {
    return value && std::holds_alternative<GgufArray>(value->data);
}

/// True for a list of integers that is short enough to be shown.
bool is_short_list(const GgufValue* value) {
    if (!holds_list(value)) return false;
    const auto& list = std::get<GgufArray>(value->data);
    const char kind = name(list.element).front();  // "u32", "i8", "f32", "string"
    constexpr uint64_t kMostShown = 64;
    return list.count <= kMostShown && (kind == 'u' || kind == 'i');
}

}  // namespace

const GgufValue* GgufSettings::find(const std::string& key) {
    read_.insert(key);
    return file_.metadata().find(key);
}

void GgufSettings::fail(const std::string& key, const std::string& found, const std::string& expected) const {
    throw Error(path(), key, fmt::format("is {}, expected {}", found, expected));
}

int64_t GgufSettings::integer(const std::string& key, int64_t low, int64_t high,
                              std::optional<int64_t> absent) {
    (void)find(key);
    const auto value = file_.metadata().get_integer(key);
    if (!value && absent) return *absent;
    if (!value || *value < low || *value > high)
        fail(key, value ? std::to_string(*value) : "missing",
             fmt::format("an integer from {} to {}", low, high));
    return *value;
}

double GgufSettings::real(const std::string& key, double low, double high, std::optional<double> absent) {
    (void)find(key);
    const auto value = file_.metadata().get_f32(key);
    if (!value && absent) return *absent;
    if (!value || !(*value >= low) || !(*value <= high))
        fail(key, value ? fmt::to_string(*value) : "missing",
             fmt::format("a number from {} to {}", low, high));
    return *value;
}

bool GgufSettings::boolean(const std::string& key, bool absent) {
    (void)find(key);
    return file_.metadata().get_bool(key).value_or(absent);
}

std::optional<std::string> GgufSettings::text(const std::string& key) {
    (void)find(key);
    const auto value = file_.metadata().get_string(key);
    return value ? std::optional(std::string(*value)) : std::nullopt;
}

std::vector<int64_t> GgufSettings::integers(const std::string& key) {
    (void)find(key);
    return file_.metadata().get_integers(key);
}

std::vector<double> GgufSettings::reals(const std::string& key) {
    (void)find(key);
    const auto numbers = file_.metadata().get_array<float>(key);
    return numbers ? std::vector<double>(numbers->begin(), numbers->end()) : std::vector<double>();
}

bool GgufSettings::is_list(const std::string& key) {
    return holds_list(find(key));
}

std::string GgufSettings::shown(const std::string& key) {
    const GgufValue* found = find(key);
    return is_short_list(found)
               ? tessera::shown(fmt::format("[{}]", fmt::join(file_.metadata().get_integers(key), ", ")))
               : shown_value(found);
}

std::string GgufSettings::described(const std::string& key) {
    return fmt::format("{} = {}", key, shown(key));
}

void GgufSettings::refuse(const std::string& key, const std::string& what) {
    findings_.unsupported.push_back(fmt::format("{}: {}", described(key), what));
}

void GgufSettings::warn(const std::string& key, const std::string& what) {
    findings_.warnings.push_back(fmt::format("{}: {}", described(key), what));
}

void GgufSettings::refuse_unless_zero(const std::string& key, const std::string& what) {
    const GgufValue* found = find(key);
    if (found && !is_zero(*found)) refuse(key, what);
}

std::vector<UnreadSetting> GgufSettings::unread() const {
    std::vector<UnreadSetting> all;
    for (const std::string_view key : file_.metadata().keys()) {
        if (read_.contains(key)) continue;
        const GgufValue* value = file_.metadata().find(key);
        const auto* text = std::get_if<std::string_view>(&value->data);
        const auto* list = std::get_if<GgufArray>(&value->data);
        all.push_back({.name = std::string(key),
                       .value = shown_value(value),
                       .is_empty = (text && text->empty()) || (list && list->count == 0),
                       .is_off = is_zero(*value)});
    }
    return all;
}

std::string GgufReader::key(std::string_view suffix) const {
    if (suffix.starts_with('/')) return std::string(suffix.substr(1));
    return fmt::format("{}.{}", architecture, suffix);
}

int64_t GgufReader::integer(std::string_view suffix, int64_t low, int64_t high,
                            std::optional<int64_t> absent) {
    return settings.integer(key(suffix), low, high, absent);
}

double GgufReader::real(std::string_view suffix, double low, double high, std::optional<double> absent) {
    return settings.real(key(suffix), low, high, absent);
}

}  // namespace tessera::import
