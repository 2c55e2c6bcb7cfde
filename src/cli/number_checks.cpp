#include "cli/number_checks.h"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace tessera::cli {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

/// Decimal digits, no more of them than are needed.
bool is_whole_number(const std::string& text, int64_t low, int64_t high) {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool has_leading_zero = text.size() > 1 && text[0] == '0';
    return error == std::errc() && stop == end && !has_leading_zero && low <= number && number <= high;
}

template <class Accepts>
CLI::Validator check_of(const std::string& expected, const char* name, Accepts accepts) {
    return CLI::Validator(
        [=](const std::string& text) {
            return accepts(text) ? std::string() : fmt::format("expected {}, not '{}'", expected, text);
        },
        name);
}

template <class Accepts>
CLI::Validator real_check_of(const char* expected, const char* name, Accepts accepts) {
    return check_of(expected, name, [=](const std::string& text) {
        double number = 0;
        return CLI::detail::lexical_cast(text, number) && std::isfinite(number) && accepts(number);
    });
}

}  // namespace

CLI::Validator whole_number(int64_t low, int64_t high) {
    const std::string expected = high == kLargest ? fmt::format("a whole number, {} or more", low)
                                                  : fmt::format("a whole number from {} to {}", low, high);
    return check_of(expected, low > 0 ? "POSITIVE" : "NONNEGATIVE",
                    [=](const std::string& text) { return is_whole_number(text, low, high); });
}

CLI::Validator whole_number_or(int64_t special, int64_t low, int64_t high) {
    return check_of(fmt::format("a whole number from {} to {}, or {}", low, high, special), "",
                    [=](const std::string& text) {
                        return is_whole_number(text, low, high) || text == fmt::to_string(special);
                    });
}

CLI::Validator positive_count() {
    return whole_number(1);
}

CLI::Validator count_or_zero() {
    return whole_number(0);
}

CLI::Validator positive_number() {
    return real_check_of("a number above 0", "POSITIVE", [](double x) { return x > 0; });
}

CLI::Validator number_or_zero() {
    return real_check_of("a number, 0 or more", "NONNEGATIVE", [](double x) { return x >= 0; });
}

CLI::Validator fraction() {
    return real_check_of("a number from 0 to 1", "FRACTION", [](double x) { return 0 <= x && x <= 1; });
}

CLI::Validator not_empty() {
    return CLI::Validator(
        [](const std::string& text) { return text.empty() ? std::string("is empty") : std::string(); }, "");
}

}  // namespace tessera::cli
