#include "cli/number_checks.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/core.h>

namespace tessera::cli {
namespace {

template <class Number, class Accepts>
CLI::Validator check_of(const char* expected, const char* name, Accepts accepts) {
    return CLI::Validator(
        [=](const std::string& text) {
            Number number{};
            if (CLI::detail::lexical_cast(text, number) && accepts(number)) return std::string();
            return fmt::format("expected {}, not '{}'", expected, text);
        },
        name);
}

}  // namespace

CLI::Validator positive_count() {
    return check_of<int64_t>("a whole number, 1 or more", "POSITIVE", [](int64_t n) { return n > 0; });
}

CLI::Validator count_or_zero() {
    return check_of<int64_t>("a whole number, 0 or more", "NONNEGATIVE", [](int64_t n) { return n >= 0; });
}

CLI::Validator positive_number() {
    return check_of<double>("a number above 0", "POSITIVE",
                            [](double x) { return std::isfinite(x) && x > 0; });
}

CLI::Validator number_or_zero() {
    return check_of<double>("a number, 0 or more", "NONNEGATIVE",
                            [](double x) { return std::isfinite(x) && x >= 0; });
}

}  // namespace tessera::cli
