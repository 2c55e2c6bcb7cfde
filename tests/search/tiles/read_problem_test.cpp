#include "search/tiles/read_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::tiles {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        (void)read_problem(text, "t.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

/// A whole instance with one term in its objective.
std::string with_term(const std::string& term) {
    return R"({"name": "t", "variables": {"m": [1, 2, 4], "p": [0, 1]}, "objective": [{"name": "memory", "terms": [)" +
           term + "]}]}";
}

std::string with_variables(const std::string& variables) {
    return R"({"name": "t", "variables": )" + variables + R"(, "objective": [{"name": "o", "terms": []}]})";
}

std::string with_constraints(const std::string& constraints) {
    return R"({"name": "t", "variables": {"m": [1, 2]}, "objective": [{"name": "o", "terms": []}], "constraints": )" +
           constraints + "}";
}

TEST(ReadProblem, ReadsEveryPart) {
    const Problem read = read_problem(
        R"({"name": "example", "about": "a remark", "multiple": [["n", 16], [64, "m"]],
            "variables": {"n": [16, 32], "m": [8, 64], "place": [0, 1]},
            "constraints": [{"name": "L1", "most": 32768.5, "terms": [
                {"coefficient": 4, "powers": {"m": 2, "n": -1}, "if": {"place": 1, "m": 7}}]}],
            "objective": [{"name": "memory", "terms": [
                {"coefficient": 0.125, "trips": [[1000, "m"], ["n", "m"], ["n", "m"]], "powers": {}}]},
                          {"name": "none", "terms": []}]})",
        "t.json");
    const Operand m = VariableIndex{0}, n = VariableIndex{1};
    const Problem expected{
        .name = "example",
        .variables = {{"m", {8, 64}}, {"n", {16, 32}}, {"place", {0, 1}}},
        .constraints = {{{"L1", {{4, {{0, 2}, {1, -1}}, {}, {{0, 7}, {2, 1}}}}}, 32768.5}},
        .multiples = {{n, int64_t{16}}, {int64_t{64}, m}},
        .objective = {{"memory", {{0.125, {}, {{int64_t{1000}, m}, {n, m}, {n, m}}, {}}}}, {"none", {}}}};
    EXPECT_EQ(read, expected);
}

TEST(ReadProblem, NamesTheTerm) {
    const std::string place = "t.json: `objective memory, term 0`: ";
    const auto expect = [&](const std::string& term, const std::string& problem) {
        EXPECT_EQ(error_of(with_term(term)), place + problem);
    };
    EXPECT_EQ(error_of(with_term(R"({"coefficient": 1})")), "accepted");
    expect("1", "is 1, expected an object");
    expect("{}", "has no `coefficient`");
    expect(R"({"coefficient": null})", "`coefficient` is null");
    expect(R"({"coefficient": 0})",
           "`coefficient` is 0, expected a number above 0 that a float64 holds in full");
    expect(R"({"coefficient": "1"})",
           "`coefficient` is \"1\", expected a number above 0 that a float64 holds in full");
    expect(R"({"coefficient": true})",
           "`coefficient` is true, expected a number above 0 that a float64 holds in full");
    expect(R"({"coefficient": 1, "power": {}})", "has the unknown key `power` (did you mean `powers`?)");
    expect(R"({"coefficient": 1, "powers": []})", "`powers` is [], expected an object");
    expect(R"({"coefficient": 1, "powers": null})", "`powers` is null");
    expect(R"({"coefficient": 1, "powers": {"quantity": 1}})", "names `quantity`, which is no variable");
    expect(R"({"coefficient": 1, "powers": {"m": 9}})",
           "the exponent of `m` is 9, expected an integer from -8 to 8");
    expect(R"({"coefficient": 1, "powers": {"m": 1.0}})",
           "the exponent of `m` is 1.0, expected an integer from -8 to 8");
    expect(R"({"coefficient": 1, "powers": {"m": 0}})", "the exponent of `m` is 0");
    expect(R"({"coefficient": 1, "powers": {"p": -1}})", "divides by `p`, which may be 0");
    expect(R"({"coefficient": 1, "trips": {}})", "`trips` is {}, expected a list");
    expect(R"({"coefficient": 1, "trips": [1]})", "a pair is 1, expected a list");
    expect(R"({"coefficient": 1, "trips": [["m"]]})", "[\"m\"] is no pair");
    expect(R"({"coefficient": 1, "trips": [["m", "m", 1]]})", "[\"m\",\"m\",1] is no pair");
    expect(R"({"coefficient": 1, "trips": [["m", 0]]})",
           "a number of a pair is 0, expected an integer from 1 to 2147483647");
    expect(R"({"coefficient": 1, "trips": [[2147483648, "m"]]})",
           "a number of a pair is 2147483648, expected an integer from 1 to 2147483647");
    expect(R"({"coefficient": 1, "trips": [["m", 1.5]]})",
           "a pair holds 1.5, expected a variable or an integer");
    expect(R"({"coefficient": 1, "trips": [["m", "p"]]})", "`p` stands in a pair, but may be 0");
    expect(R"({"coefficient": 1, "trips": [["m", "extent"]]})", "names `extent`, which is no variable");
    expect(R"({"coefficient": 1, "if": {"m": -1}})",
           "`if` of `m` is -1, expected an integer from 0 to 2147483647");
    expect(R"({"coefficient": 1, "if": {"m": true}})",
           "`if` of `m` is true, expected an integer from 0 to 2147483647");
}

TEST(ReadProblem, NamesTheVariable) {
    const auto error = [](const std::string& variables) { return error_of(with_variables(variables)); };
    EXPECT_EQ(error(R"({"m": [0, 2147483647]})"), "accepted");
    EXPECT_THAT(error("{}"), EndsWith("`variables`: there is none, expected at least one"));
    EXPECT_THAT(error("[]"), EndsWith("`variables`: it is [], expected an object"));
    EXPECT_THAT(error(R"({"1m": [1]})"), HasSubstr("`variable 1m`: is no name"));
    EXPECT_THAT(error(R"({"": [1]})"), HasSubstr("is no name"));
    EXPECT_THAT(error(R"({"m-1": [1]})"), HasSubstr("is no name"));
    EXPECT_THAT(error(R"({"m": []})"), EndsWith("`variable m`: the domain is empty"));
    EXPECT_THAT(error(R"({"m": 1})"), EndsWith("`variable m`: the domain is 1, expected a list"));
    EXPECT_THAT(error(R"({"m": [1, 1]})"), EndsWith("value 1 is 1 after 1, expected increasing values"));
    EXPECT_THAT(error(R"({"m": [-1]})"), EndsWith("value 0 is -1, expected an integer from 0 to 2147483647"));
    EXPECT_THAT(error(R"({"m": [2147483648]})"), HasSubstr("value 0 is 2147483648"));
    EXPECT_THAT(error(R"({"m": [1.0]})"), HasSubstr("value 0 is 1.0"));
    EXPECT_THAT(error(R"({"m": [1], "m": [2]})"), EndsWith("`m`: is there twice in one object"));
}

TEST(ReadProblem, NamesTheSum) {
    const auto error = [](const std::string& sums) { return error_of(with_constraints(sums)); };
    EXPECT_EQ(error(R"([{"name": "L1", "most": 0, "terms": []}])"), "accepted");
    EXPECT_THAT(error("{}"), EndsWith("`constraints`: it is {}, expected a list"));
    EXPECT_THAT(error("null"), EndsWith("`constraints` is null"));
    EXPECT_THAT(error(R"([{"most": 0, "terms": []}])"), EndsWith("`constraints 0`: has no `name`"));
    EXPECT_THAT(error(R"([{"name": 1, "most": 0, "terms": []}])"),
                EndsWith("`constraints 0`: `name` is 1, expected a text"));
    EXPECT_THAT(error(R"([{"name": "L1", "terms": []}])"), EndsWith("`constraints L1`: has no `most`"));
    EXPECT_THAT(error(R"([{"name": "L1", "most": -1, "terms": []}])"),
                EndsWith("`constraints L1`: `most` is -1, expected a number from 0"));
    EXPECT_THAT(error(R"([{"name": "L1", "most": 1}])"), EndsWith("`constraints L1`: has no `terms`"));
    EXPECT_THAT(error(R"([{"name": "L1", "most": 1, "terms": []}, {"name": "L1", "most": 1, "terms": []}])"),
                EndsWith("`constraints L1`: is there twice"));
    EXPECT_THAT(error(R"([{"name": "L1", "most": 1, "terms": [{"coefficient": 1}, {}]}])"),
                EndsWith("`constraints L1, term 1`: has no `coefficient`"));
}

TEST(ReadProblem, NamesWhatIsWrongWithTheWhole) {
    EXPECT_THAT(error_of(""), HasSubstr("is not valid JSON"));
    EXPECT_THAT(error_of("[]"), EndsWith("`instance`: is [], expected an object"));
    EXPECT_THAT(error_of("{}"), EndsWith("`instance`: has no `name`"));
    EXPECT_THAT(error_of(R"({"name": "t"})"), EndsWith("`instance`: has no `variables`"));
    EXPECT_THAT(error_of(R"({"name": "t", "variables": {"m": [1]}})"), EndsWith("has no `objective`"));
    EXPECT_THAT(error_of(R"({"name": "t", "variables": {"m": [1]}, "objective": []})"),
                EndsWith("`objective`: has no sum, expected at least one"));
    EXPECT_THAT(error_of(R"({"name": "t", "nodes": 1})"), EndsWith("has the unknown key `nodes`"));
    EXPECT_THAT(error_of(R"({"name": "t", "about": 1})"), EndsWith("`about` is 1, expected a text"));
    EXPECT_THAT(error_of(R"({"name": "t", "variables": {"m": [1]}, "multiple": [["m", 0]]})"),
                HasSubstr("`multiple`: a number of a pair is 0"));
}

TEST(ReadProblem, RefusesWhatNoFloat64Holds) {
    const auto powers = [](const std::string& coefficient, int exponent) {
        std::string variables, all;
        for (int i = 0; i < 5; ++i) {
            variables += fmt::format(R"({}"v{}": [1, 2147483647])", i > 0 ? ", " : "", i);
            all += fmt::format(R"({}"v{}": {})", i > 0 ? ", " : "", i, exponent);
        }
        return error_of(R"({"name": "t", "variables": {)" + variables +
                        R"(}, "objective": [{"name": "o", "terms": [{"coefficient": )" + coefficient +
                        R"(, "powers": {)" + all + "}}]}]}");
    };
    EXPECT_EQ(powers("1", 6), "accepted");
    EXPECT_THAT(powers("1", 7),
                HasSubstr("`objective o, term 0`: may become larger or smaller than a float64"));
    EXPECT_THAT(powers("1e200", 6), HasSubstr("may become larger"));
    EXPECT_EQ(powers("1", -6), "accepted");
    EXPECT_THAT(powers("1", -7), HasSubstr("may become larger or smaller"));
    EXPECT_THAT(error_of(with_term(R"({"coefficient": 1e308}, {"coefficient": 1e308})")),
                HasSubstr("may become larger"));
    EXPECT_THAT(error_of(with_term(R"({"coefficient": 1e309})")), HasSubstr("is not valid JSON"));
}

TEST(ReadProblem, RefusesMoreThanItReads) {
    std::string many = "{\"v0\": [1]";
    for (int i = 1; i < 257; ++i) many += fmt::format(", \"v{}\": [1]", i);
    EXPECT_THAT(error_of(with_variables(many + "}")), EndsWith("there are 257, at most 256 are read"));
    std::string long_domain = "[0";
    for (int i = 1; i < 10'001; ++i) long_domain += fmt::format(", {}", i);
    EXPECT_THAT(error_of(with_variables("{\"m\": " + long_domain + "]}")),
                EndsWith("`variable m`: the domain has 10001 values, at most 10000 are read"));
    std::string terms = R"({"coefficient": 1})";
    for (int i = 1; i < 2'001; ++i) terms += R"(, {"coefficient": 1})";
    EXPECT_THAT(error_of(with_term(terms)),
                EndsWith("`objective memory`: is beyond the 2000 terms that are read"));
    std::string trips = "[1, 1]";
    for (int i = 1; i < 257; ++i) trips += ", [1, 1]";
    EXPECT_THAT(error_of(with_term(R"({"coefficient": 1, "trips": [)" + trips + "]}")),
                EndsWith("`objective memory, term 0`: has more than 256 trips"));
}

// 1,500 terms, each with trips of its own for a variable of 10,000 values: a table for each would take
// gigabytes.
TEST(ReadProblem, RefusesTablesThatFillTheMemory) {
    const auto text = [](int variables) {
        std::string domains, terms;
        for (int v = 0; v < variables; ++v) {
            domains += fmt::format("{}\"v{}\": [1", v > 0 ? ", " : "", v);
            for (int i = 2; i <= 10'000; ++i) domains += fmt::format(", {}", i);
            domains += "]";
        }
        for (int t = 0; t < 1500; ++t) {
            terms += t > 0 ? ", " : "";
            terms += R"({"coefficient": 1, "trips": [)";
            for (int v = 0; v < variables; ++v)
                terms += fmt::format("{}[{}, \"v{}\"]", v > 0 ? ", " : "", t + 2, v);
            terms += "]}";
        }
        return R"({"name": "t", "variables": {)" + domains + R"(}, "objective": [{"name": "o", "terms": [)" +
               terms + "]}]}";
    };
    EXPECT_EQ(error_of(text(3)), "accepted");
    EXPECT_THAT(error_of(text(8)),
                HasSubstr("`instance`: needs tables of 120000000 numbers, at most 100000000"));
}

}  // namespace
}  // namespace tessera::tiles
