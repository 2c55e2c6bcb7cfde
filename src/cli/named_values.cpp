#include "cli/named_values.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/number_checks.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

/// Names of sources hold dots and slashes, and a file may be called anything: the first `=` ends the name.
std::pair<std::string, std::string> parts_of(const std::string& text) {
    const size_t end = text.find('=');
    if (end == std::string::npos) return {};
    return {text.substr(0, end), text.substr(end + 1)};
}

CLI::Option* add_named(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                       const std::string& help, const std::string& type, const CLI::Validator& of_value) {
    const auto check = [type, of_value](const std::string& text) {
        const auto [name, value] = parts_of(text);
        if (name.empty() || value.empty()) return "expected " + type + ", not '" + text + "'";
        std::string copy = value;
        return of_value(copy);
    };
    return app.add_option(option, values, help)
        ->allow_extra_args(false)
        ->type_name(type)
        ->check(CLI::Validator(check, ""));
}

void refuse_twice(bool is_new, const std::string& option, const std::string& name) {
    if (!is_new) throw Error("", option, fmt::format("gives `{}` twice", name), "", ErrorKind::kUsage);
}

std::optional<int64_t> natural(std::string_view digits) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    return is_whole && value >= 0 ? std::optional(value) : std::nullopt;
}

/// Empty where the text is none of N, LOW..HIGH and LOW..HIGH:STEP.
std::optional<ExtentBounds> bounds_of(const std::string& text) {
    const std::string_view all = text;
    const size_t dots = all.find(".."), colon = dots == all.npos ? dots : all.find(':', dots);
    const std::optional<int64_t> low = natural(all.substr(0, dots)),
                                 high =
                                     dots == all.npos ? low : natural(all.substr(dots + 2, colon - dots - 2)),
                                 step = colon == all.npos ? 1 : natural(all.substr(colon + 1));
    if (!low || !high || *low > *high || !step || *step == 0) return std::nullopt;
    return ExtentBounds{*low, *high, *step};
}

/// NAME=SYMBOL:N,.. or NAME*WEIGHT=SYMBOL:N,..; a symbol may hold dots and colons, so the last colon counts.
std::optional<CostPoint> point_of(const std::string& text) {
    const auto [head, values] = parts_of(text);
    const size_t star = head.rfind('*');
    CostPoint point{.name = head.substr(0, star), .weight = 1, .values = {}};
    if (star != std::string::npos) {
        const std::optional<int64_t> weight = natural(std::string_view(head).substr(star + 1));
        if (!weight || *weight == 0) return std::nullopt;
        point.weight = static_cast<double>(*weight);
    }
    for (size_t begin = 0; begin <= values.size();) {
        const size_t end = std::min(values.find(',', begin), values.size());
        const std::string_view part = std::string_view(values).substr(begin, end - begin);
        const size_t colon = part.rfind(':');
        if (colon == std::string_view::npos || colon == 0) return std::nullopt;
        const std::optional<int64_t> value = natural(part.substr(colon + 1));
        if (!value || !point.values.emplace(part.substr(0, colon), *value).second) return std::nullopt;
        begin = end + 1;
    }
    return point.name.empty() ? std::nullopt : std::optional(point);
}

}  // namespace

CLI::Option* add_named_files(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                             const std::string& help) {
    return add_named(app, option, values, help, "NAME=FILE", not_empty());
}

CLI::Option* add_named_texts(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                             const std::string& type, const std::string& help) {
    return add_named(app, option, values, help, type, not_empty());
}

CLI::Option* add_named_numbers(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                               const std::string& help) {
    return add_named(app, option, values, help, "NAME=N", positive_count());
}

CLI::Option* add_named_bounds(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                              const std::string& help) {
    return add_named(app, option, values, help, "NAME=N or NAME=LOW..HIGH or NAME=LOW..HIGH:STEP",
                     CLI::Validator(
                         [](const std::string& text) {
                             return bounds_of(text)
                                        ? std::string()
                                        : "expected N, LOW..HIGH or LOW..HIGH:STEP, not '" + text + "'";
                         },
                         ""));
}

std::map<std::string, ExtentBounds> named_bounds(const std::string& option,
                                                 const std::vector<std::string>& values) {
    std::map<std::string, ExtentBounds> all;
    for (const std::string& text : values) {
        const auto [name, bounds] = parts_of(text);
        refuse_twice(all.emplace(name, bounds_of(bounds).value()).second, option, name);
    }
    return all;
}

std::map<std::string, std::string> named_texts(const std::string& option,
                                               const std::vector<std::string>& values) {
    std::map<std::string, std::string> all;
    for (const std::string& text : values) {
        const auto [name, value] = parts_of(text);
        refuse_twice(all.emplace(name, value).second, option, name);
    }
    return all;
}

std::map<std::string, std::filesystem::path> named_files(const std::string& option,
                                                         const std::vector<std::string>& values) {
    const std::map<std::string, std::string> texts = named_texts(option, values);
    return {texts.begin(), texts.end()};
}

std::map<std::string, int64_t> named_numbers(const std::string& option,
                                             const std::vector<std::string>& values) {
    std::map<std::string, int64_t> all;
    for (const std::string& text : values) {
        const auto [name, number] = parts_of(text);
        refuse_twice(all.emplace(name, std::stoll(number)).second, option, name);
    }
    return all;
}

CLI::Option* add_points(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                        const std::string& help) {
    const auto check = [](const std::string& text) {
        return point_of(text) ? std::string() : "expected NAME=SYMBOL:N,.., not '" + text + "'";
    };
    return app.add_option(option, values, help)
        ->allow_extra_args(false)
        ->type_name("NAME=SYMBOL:N,..")
        ->check(CLI::Validator(check, ""));
}

std::vector<CostPoint> points_of(const std::string& option, const std::vector<std::string>& values) {
    std::vector<CostPoint> all;
    std::set<std::string> names;
    for (const std::string& text : values) {
        all.push_back(point_of(text).value());
        refuse_twice(names.insert(all.back().name).second, option, all.back().name);
    }
    return all;
}

}  // namespace tessera::cli
