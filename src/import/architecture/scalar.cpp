#include "import/architecture/scalar.h"

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import {
namespace {

[[noreturn]] void fail(const Scalar& value, const std::string& where, const char* expected) {
    throw Error(where, "", fmt::format("{} is {}, expected {}", print(value), kind_of(value), expected));
}

}  // namespace

std::string print(const Scalar& value) {
    return std::visit(
        [](const auto& data) -> std::string {
            using Data = std::decay_t<decltype(data)>;
            if constexpr (std::is_same_v<Data, Null>)
                return "null";
            else if constexpr (std::is_same_v<Data, AsStored>)
                return "stored";
            else if constexpr (std::is_same_v<Data, std::string>)
                return fmt::format("\"{}\"", data);
            else if constexpr (std::is_same_v<Data, std::vector<Scalar>>) {
                std::string all;
                for (const Scalar& each : data) all += (all.empty() ? "" : ", ") + print(each);
                return fmt::format("({})", all);
            } else
                return fmt::format("{}", data);
        },
        value.data);
}

std::string kind_of(const Scalar& value) {
    constexpr const char* kKinds[] = {"null",     "`stored`", "a truth value", "an integer",
                                      "a number", "a text",   "a list"};
    return kKinds[value.data.index()];
}

bool truth_of(const Scalar& value, const std::string& where) {
    if (const bool* truth = std::get_if<bool>(&value.data)) return *truth;
    fail(value, where, "a truth value");
}

int64_t integer_of(const Scalar& value, const std::string& where) {
    if (const int64_t* integer = std::get_if<int64_t>(&value.data)) return *integer;
    fail(value, where, "an integer");
}

double number_of(const Scalar& value, const std::string& where) {
    if (const double* number = std::get_if<double>(&value.data)) return *number;
    if (const int64_t* integer = std::get_if<int64_t>(&value.data)) return static_cast<double>(*integer);
    fail(value, where, "a number");
}

const std::string& text_of(const Scalar& value, const std::string& where) {
    if (const std::string* text = std::get_if<std::string>(&value.data)) return *text;
    fail(value, where, "a text");
}

}  // namespace tessera::import
