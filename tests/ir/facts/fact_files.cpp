#include "ir/facts/fact_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "ir/facts/facts.h"
#include "support/error.h"
#include "support/shared_data.h"

namespace tessera::facts {
namespace {

using nlohmann::json;

double number_of(const json& value) {
    if (value.is_number()) return value.get<double>();
    const std::string text = value.get<std::string>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

// Lists whose order says nothing, sorted.
json normal(const std::string& fact, json value) {
    if (fact == "depends")
        for (auto& [tensor, list] : value.items()) std::sort(list.begin(), list.end());
    if (fact == "units") std::sort(value.begin(), value.end());
    return value;
}

bool near(double got, double want, double tolerance) {
    if (!std::isfinite(want)) return std::isnan(want) ? std::isnan(got) : got == want;
    return std::abs(got - want) <= tolerance + 1e-12 * std::abs(want);
}

bool values_agree(const json& got, const json& want, const std::string& type, double count) {
    const double tolerance = type == "f32" ? 1e-6 : type == "f16" ? 1e-3 : type == "bf16" ? 1e-2 : 0;
    const double squares = number_of(want["sum_squares"]);
    const double rms = std::isfinite(squares) ? std::sqrt(squares / count) : 0;
    if (got["first"].size() != want["first"].size()) return false;
    for (size_t i = 0; i < want["first"].size(); ++i) {
        const double element = number_of(want["first"][i]);
        if (!near(number_of(got["first"][i]), element, tolerance * std::max(std::abs(element), rms)))
            return false;
    }
    return near(number_of(got["sum"]), number_of(want["sum"]), tolerance * rms * count) &&
           near(number_of(got["sum_squares"]), squares, 2 * tolerance * squares);
}

void compare_entries(const std::string& fact, const json& got, const json& want,
                     std::vector<std::string>& found) {
    if (!want.is_object()) {
        if (got != want)
            found.push_back(fmt::format("{}: got {}, expected {}", fact, got.dump(), want.dump()));
        return;
    }
    for (const auto& [entry, value] : want.items())
        if (!got.contains(entry) || got[entry] != value)
            found.push_back(fmt::format("{} of {}: got {}, expected {}", fact, entry,
                                        got.contains(entry) ? got[entry].dump() : "nothing", value.dump()));
    for (const auto& [entry, value] : got.items())
        if (!want.contains(entry))
            found.push_back(fmt::format("{} of {}: got {}, expected nothing", fact, entry, value.dump()));
}

}  // namespace

std::filesystem::path own_definitions() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/ir/facts/definitions";
}

std::filesystem::path zoo() {
    return test::shared_data("zoo");
}

std::vector<std::filesystem::path> definitions_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".op") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    TESSERA_CHECK(in.good(), "cannot read {}", file.string());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

json read_json(const std::filesystem::path& file) {
    return json::parse(read_text(file));
}

json facts_of(const std::string& text, const std::string& where, bool values) {
    return json::parse(
        facts_text(derive_facts(parse_definition_file(text, where), {.values = values}, where)));
}

std::vector<std::string> differences(const json& got, const json& want) {
    std::vector<std::string> found;
    for (const auto& [fact, value] : want.items()) {
        if (fact != "values") {
            if (got.contains(fact))
                compare_entries(fact, normal(fact, got[fact]), normal(fact, value), found);
            else
                found.push_back(fact + " is missing");
            continue;
        }
        for (const auto& [result, numbers] : value.items()) {
            double count = 1;
            for (const json& extent : want["shapes"][result]) count *= extent.get<double>();
            if (!got["values"].contains(result) ||
                !values_agree(got["values"][result], numbers, want["types"][result], count))
                found.push_back(fmt::format("values of {}: got {}, expected {}", result,
                                            got["values"].value(result, json()).dump(), numbers.dump()));
        }
    }
    return found;
}

}  // namespace tessera::facts
