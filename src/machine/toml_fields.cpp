#include "machine/toml_fields.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr size_t kMaxText = 200;
constexpr size_t kMaxName = 40;

bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
}

bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string type_name(const toml::node& node) {
    std::ostringstream text;
    text << node.type();
    return text.str();
}

}  // namespace

TomlFields::TomlFields(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

std::string TomlFields::line(const toml::node& node) const {
    // A value that was set by an exploration stands in no line.
    const auto at = node.source().begin.line;
    return at == 0 ? file_ : fmt::format("{}:{}", file_, at);
}

void TomlFields::refuse(std::string_view key, const std::string& problem, const std::string& advice) const {
    const toml::node* node = table_.get(key);
    throw Error(line(node == nullptr ? table_ : *node), std::string(key), problem, advice);
}

const toml::node& TomlFields::required(std::string_view key) {
    asked_.emplace(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) refuse(key, "is missing");
    return *node;
}

std::string TomlFields::checked_text(std::string_view key, const toml::node& node, size_t most) const {
    const auto* value = node.as_string();
    if (value == nullptr)
        throw Error(line(node), std::string(key), fmt::format("is {}, expected string", type_name(node)));
    const std::string& text = value->get();
    if (text.size() > most || !std::all_of(text.begin(), text.end(), is_plain))
        throw Error(
            line(node), std::string(key),
            fmt::format("must be at most {} printable ASCII characters without quotes and backslash", most));
    return text;
}

std::string TomlFields::text_or_empty(std::string_view key) {
    return checked_text(key, required(key), kMaxText);
}

std::string TomlFields::text(std::string_view key) {
    std::string value = text_or_empty(key);
    if (value.empty()) refuse(key, "is empty");
    return value;
}

std::string TomlFields::text(std::string_view key, size_t most) {
    std::string value = checked_text(key, required(key), most);
    if (value.empty()) refuse(key, "is empty");
    return value;
}

int64_t TomlFields::integer(std::string_view key, int64_t low, int64_t high) {
    const toml::node& node = required(key);
    const auto* value = node.as_integer();
    if (value == nullptr) refuse(key, fmt::format("is {}, expected integer", type_name(node)));
    if (value->get() < low || value->get() > high)
        refuse(key, fmt::format("is {}, expected {} to {}", value->get(), low, high));
    return value->get();
}

std::vector<int64_t> TomlFields::integers(std::string_view key, int64_t low, int64_t high) {
    const toml::node& node = required(key);
    const toml::array* array = node.as_array();
    if (array == nullptr) refuse(key, fmt::format("is {}, expected a list of integers", type_name(node)));
    std::vector<int64_t> values;
    for (const toml::node& element : *array) {
        const auto* value = element.as_integer();
        if (value == nullptr) refuse(key, fmt::format("holds {}, expected integers", type_name(element)));
        if (value->get() < low || value->get() > high)
            refuse(key, fmt::format("holds {}, expected {} to {}", value->get(), low, high));
        values.push_back(value->get());
    }
    return values;
}

double TomlFields::real(std::string_view key, double low, double high) {
    const toml::node& node = required(key);
    const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value) refuse(key, fmt::format("is {}, expected a number", type_name(node)));
    if (!(*value >= low && *value <= high))
        refuse(key, fmt::format("is {}, expected {} to {}", *value, low, high));
    return *value;
}

bool TomlFields::boolean(std::string_view key) {
    const toml::node& node = required(key);
    const auto* value = node.as_boolean();
    if (value == nullptr) refuse(key, fmt::format("is {}, expected boolean", type_name(node)));
    return value->get();
}

std::optional<double> TomlFields::positive(std::string_view key) {
    asked_.emplace(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value) refuse(key, fmt::format("is {}, expected a number", type_name(*node)));
    if (!std::isfinite(*value) || *value <= 0)
        refuse(key, fmt::format("is {}, expected more than 0", *value));
    return value;
}

std::vector<std::string> TomlFields::texts(std::string_view key) {
    const toml::node& node = required(key);
    const toml::array* array = node.as_array();
    if (array == nullptr) refuse(key, fmt::format("is {}, expected array", type_name(node)));
    std::vector<std::string> values;
    for (const toml::node& element : *array) values.push_back(checked_text(key, element, kMaxText));
    return values;
}

TomlFields TomlFields::table(std::string_view key) {
    const toml::node& node = required(key);
    if (!node.is_table()) refuse(key, fmt::format("is {}, expected table", type_name(node)));
    return {*node.as_table(), file_};
}

std::vector<TomlFields> TomlFields::tables(std::string_view key) {
    const toml::node& node = required(key);
    const toml::array* array = node.as_array();
    if (array == nullptr || array->empty() || !array->is_homogeneous(toml::node_type::table))
        refuse(key, "must be a list of tables that is not empty",
               fmt::format("write [[{}]] above each", key));
    std::vector<TomlFields> fields;
    for (const toml::node& element : *array) fields.emplace_back(*element.as_table(), file_);
    return fields;
}

std::vector<std::string> TomlFields::names() const {
    std::vector<std::string> found;
    for (const auto& [key, node] : table_) {
        const std::string name(key.str());
        if (name.empty() || name.size() > kMaxName || !std::all_of(name.begin(), name.end(), is_of_name))
            throw Error(line(node), "", fmt::format("has a name that is not 1 to {} letters", kMaxName),
                        "digits and underscores count as letters");
        found.push_back(name);
    }
    return found;
}

std::map<std::string, int64_t> TomlFields::named_integers(std::string_view key, int64_t low, int64_t high) {
    TomlFields fields = table(key);
    std::map<std::string, int64_t> values;
    for (const std::string& name : fields.names()) values[name] = fields.integer(name, low, high);
    return values;
}

std::map<std::string, std::string> TomlFields::named_texts(std::string_view key) {
    TomlFields fields = table(key);
    std::map<std::string, std::string> values;
    for (const std::string& name : fields.names()) values[name] = fields.text(name);
    return values;
}

void TomlFields::finish() const {
    for (const auto& [key, node] : table_)
        if (!asked_.contains(key.str()))
            throw Error(line(node), std::string(key.str()), "is not a known field");
}

}  // namespace tessera::machine
