#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera {

/// A JSON value together with its place, for reading files that may be wrong: every access checks the type
/// and throws an Error that names the file, the place ("model.vocab") and what was found. Null and absent are
/// the same. The value must outlive it.
class JsonAt {
public:
    JsonAt(const nlohmann::json& value, std::string file) : value_(&value), file_(std::move(file)) {}

    JsonAt at(std::string_view key) const;                   ///< required
    std::optional<JsonAt> find(std::string_view key) const;  ///< optional
    std::vector<JsonAt> items() const;                       ///< of an array
    std::vector<std::string> keys() const;                   ///< of an object

    std::string string() const;
    bool boolean() const;
    /// Inclusive bounds.
    int64_t integer(int64_t low, int64_t high) const;

    bool is_string() const { return value_->is_string(); }
    bool is_array() const { return value_->is_array(); }
    bool is_object() const { return value_->is_object(); }
    bool is_number() const { return value_->is_number(); }

    std::string string_or(std::string_view key, std::string_view otherwise) const;
    bool boolean_or(std::string_view key, bool otherwise) const;

    const std::string& place() const { return place_; }
    const std::string& file() const { return file_; }
    const nlohmann::json& value() const { return *value_; }
    [[noreturn]] void fail(std::string problem, std::string advice = {}) const;

private:
    JsonAt(const nlohmann::json& value, std::string file, std::string place)
        : value_(&value), file_(std::move(file)), place_(std::move(place)) {}
    void expect(bool holds, std::string_view type) const;

    const nlohmann::json* value_;
    std::string file_;
    std::string place_;
};

/// Parses the text of a file of moderate size. @throws Error with the position of a syntax error
nlohmann::json parse_json(std::string_view text, const std::string& where);

}  // namespace tessera
