#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::import {

/// The value of a setting that the file says is none, or that has none by default.
struct Null {
    bool operator==(const Null&) const = default;
};

/// Neither true nor false: whatever the checkpoint stores exists.
struct AsStored {
    bool operator==(const AsStored&) const = default;
};

/// The value of a setting, or of an expression of settings.
struct Scalar {
    std::variant<Null, AsStored, bool, int64_t, double, std::string, std::vector<Scalar>> data;

    bool operator==(const Scalar&) const = default;
    bool is_null() const { return std::holds_alternative<Null>(data); }
};

/// Appends a value to a list.
template <typename T>
void append(std::vector<Scalar>& list, T value) {
    list.emplace_back().data = std::move(value);
}

/// "null", "stored", "true", "3", "0.5", "\"silu\"", "(1, 2)".
std::string print(const Scalar& value);
/// "an integer", "a text", ..
std::string kind_of(const Scalar& value);

/// @throws Error naming `where` if the value is of another kind. An integer is a number, too.
bool truth_of(const Scalar& value, const std::string& where);
int64_t integer_of(const Scalar& value, const std::string& where);
double number_of(const Scalar& value, const std::string& where);
const std::string& text_of(const Scalar& value, const std::string& where);

}  // namespace tessera::import
