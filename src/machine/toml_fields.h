#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The library is used compiled (TOML_HEADER_ONLY=0); only declarations come in here.
#include <toml++/toml.h>

namespace tessera::machine {

/// The fields of one TOML table, each asked for once with its type and range. Every refusal is an Error with
/// "FILE:LINE" and the field's name, and `finish` refuses fields that nobody asked for.
class TomlFields {
public:
    TomlFields(const toml::table& table, std::string file);

    bool has(std::string_view key) const { return table_.contains(key); }

    /// Printable ASCII without quotes and backslash, at most 200 characters; not empty.
    std::string text(std::string_view key);
    std::string text(std::string_view key, size_t most);  ///< so many characters
    std::string text_or_empty(std::string_view key);
    int64_t integer(std::string_view key, int64_t low, int64_t high);                ///< within [low, high]
    std::vector<int64_t> integers(std::string_view key, int64_t low, int64_t high);  ///< each within
    double real(std::string_view key, double low, double high);  ///< finite, within [low, high]; integers too
    bool boolean(std::string_view key);
    std::optional<double> positive(std::string_view key);  ///< finite and > 0; integers too
    std::vector<std::string> texts(std::string_view key);
    TomlFields table(std::string_view key);
    std::vector<TomlFields> tables(std::string_view key);  ///< a non-empty array of tables
    /// The fields of a table whose names are not known beforehand: letters, digits and underscores.
    std::map<std::string, int64_t> named_integers(std::string_view key, int64_t low, int64_t high);
    std::map<std::string, std::string> named_texts(std::string_view key);  ///< each as `text`

    void finish() const;

    std::string line() const { return line(table_); }  ///< "FILE:LINE" of the table

    /// The Error of a field that has the right type and the wrong value.
    [[noreturn]] void refuse(std::string_view key, const std::string& problem,
                             const std::string& advice = {}) const;

private:
    const toml::node& required(std::string_view key);
    std::vector<std::string> names() const;
    std::string checked_text(std::string_view key, const toml::node& node, size_t most) const;
    std::string line(const toml::node& node) const;

    const toml::table& table_;
    std::string file_;
    std::set<std::string, std::less<>> asked_;
};

}  // namespace tessera::machine
