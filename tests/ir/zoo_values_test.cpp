#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ir/fixtures.h"
#include "support/shared_data.h"

// Values that the zoo's own interpreter computed: those of the zoo where it is beside the checkout, and those
// of tests/ir/definitions, which are shipped.
namespace tessera {
namespace {

using nlohmann::json;

double number_of(const json& value) {
    if (value.is_number()) return value.get<double>();
    return value == "inf" ? INFINITY : value == "-inf" ? -INFINITY : NAN;
}

/// Zoo notation, "Agreement".
double tolerance(const std::string& type) {
    if (type == "f32") return 1e-6;
    if (type == "f16") return 1e-3;
    return type == "bf16" ? 1e-2 : 0;
}

void expect_near(double got, double want, double error, const std::string& what) {
    if (!std::isfinite(want)) {
        EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
            << what << ": " << got << ", expected " << want;
    } else {
        EXPECT_LE(std::fabs(got - want), error + 1e-12 * std::fabs(want))
            << what << ": " << got << ", expected " << want;
    }
}

void expect_values(const InterpretedFile& run, const json& facts, const std::string& where) {
    const Definition& d = run.file.definition;
    for (size_t i = 0; i < d.tensors.size(); ++i) {
        EXPECT_EQ(facts["types"][d.tensors[i].name], name(d.tensors[i].type)) << where;
        EXPECT_EQ(facts["shapes"][d.tensors[i].name].get<std::vector<int64_t>>(), run.extents.shapes[i])
            << where << ", " << d.tensors[i].name;
    }
    const std::vector<int> results = d.results();
    for (size_t r = 0; r < results.size(); ++r) {
        const TensorDecl& tensor = d.tensors[static_cast<size_t>(results[r])];
        const json& want = facts["values"][tensor.name];
        const std::vector<double>& got = run.results[r].values;
        const double squares = number_of(want["sum_squares"]);
        const auto count = static_cast<double>(got.size());
        const double mean = std::isfinite(squares) ? std::sqrt(squares / count) : 0;
        const double e = tolerance(std::string(name(tensor.type)));
        ASSERT_EQ(want["first"].size(), std::min<size_t>(8, got.size())) << where;
        for (size_t i = 0; i < want["first"].size(); ++i) {
            const double element = number_of(want["first"][i]);
            expect_near(got[i], element, e * std::max(std::fabs(element), mean), where + ", " + tensor.name);
        }
        double sum = 0;
        double sum_squares = 0;
        for (double x : got) sum += x, sum_squares += x * x;
        expect_near(sum, number_of(want["sum"]), e * mean * count, where + ", sum of " + tensor.name);
        expect_near(sum_squares, squares, 2 * e * squares, where + ", sum of squares of " + tensor.name);
    }
}

TEST(ZooValues, OfTheZoo) {
    TESSERA_SKIP_WITHOUT_SHARED("zoo", "values of the operator zoo");
    size_t count = 0;
    for (const auto& path : files_in(zoo_folder(), ".op")) {
        const json facts = json::parse(text_of(std::filesystem::path(path).replace_extension(".json")));
        expect_values(interpret_text(text_of(path), path.string()), facts, path.filename().string());
        ++count;
    }
    EXPECT_GE(count, 20U);
}

TEST(ZooValues, OfOurOwnDefinitions) {
    const json expected = json::parse(text_of(definitions_folder() / "expected.json"));
    for (const auto& path : files_in(definitions_folder(), ".op")) {
        ASSERT_TRUE(expected.contains(path.stem().string())) << path;
        expect_values(interpret_text(text_of(path), path.string()), expected[path.stem().string()],
                      path.filename().string());
    }
}

}  // namespace
}  // namespace tessera
