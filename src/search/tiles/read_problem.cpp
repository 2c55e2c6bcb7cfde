#include "search/tiles/read_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "search/tiles/magnitude.h"
#include "support/error.h"
#include "support/json.h"
#include "support/near_names.h"
#include "support/shown.h"

namespace tessera::tiles {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostExponent = 8;
constexpr size_t kMostVariables = 256;
constexpr size_t kMostValues = 10'000;
constexpr size_t kMostTerms = 2'000;
constexpr size_t kMostTrips = 256;
constexpr int64_t kMostTableEntries = 100'000'000;
constexpr JsonBounds kBounds{.bytes = size_t{16} << 20, .values = 2'000'000, .depth = 16, .word = 1 << 16};

bool is_name(std::string_view text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

/// Errors name places as the format's documentation does: `objective memory, term 0`.
class ProblemReader {
public:
    explicit ProblemReader(const std::string& where) : where_(where) {}

    Problem read(const JsonCursor& file);

private:
    [[noreturn]] void fail(const std::string& place, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(where_, place, problem, advice);
    }
    void check_keys(const JsonCursor& of, const std::string& place,
                    const std::vector<std::string>& known) const;
    /// Empty if it is absent; null is not a value.
    std::optional<JsonCursor> member(const JsonCursor& of, const std::string& place,
                                     const std::string& key) const;
    JsonCursor required(const JsonCursor& of, const std::string& place, const std::string& key) const;
    std::string text(const JsonCursor& of, const std::string& place, const std::string& what) const;
    int64_t integer(const JsonCursor& of, const std::string& place, const std::string& what,
                    int64_t low) const;
    double number(const JsonCursor& of, const std::string& place, const std::string& what, double low) const;
    std::vector<JsonCursor> list(const JsonCursor& of, const std::string& place,
                                 const std::string& what) const;
    std::vector<std::string> keys(const JsonCursor& of, const std::string& place,
                                  const std::string& what) const;

    void read_variables(const JsonCursor& variables);
    size_t variable(const std::string& name, const std::string& place) const;
    Operand operand(const JsonCursor& of, const std::string& place) const;
    std::vector<Pair> pairs(const JsonCursor& of, const std::string& place, const std::string& what) const;
    Term term(const JsonCursor& of, const std::string& place) const;
    /// The sums of `constraints` or `objective`; for a constraint `most` is read too.
    std::vector<Constraint> sums(const JsonCursor& of, const std::string& kind, bool is_limited);

    const std::string& where_;
    Problem problem_;
    size_t terms_ = 0;
};

void ProblemReader::check_keys(const JsonCursor& of, const std::string& place,
                               const std::vector<std::string>& known) const {
    if (!of.is_object()) fail(place, fmt::format("is {}, expected an object", of.shown()));
    for (const std::string& key : of.keys()) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::vector<std::string> near = near_names(key, known);
        fail(place, fmt::format("has the unknown key `{}`", shown(key)),
             near.empty() ? "" : fmt::format("did you mean `{}`?", near.front()));
    }
}

std::optional<JsonCursor> ProblemReader::member(const JsonCursor& of, const std::string& place,
                                                const std::string& key) const {
    if (std::optional<JsonCursor> found = of.find(key)) return found;
    const std::vector<std::string> all = of.keys();
    if (std::find(all.begin(), all.end(), key) != all.end()) fail(place, fmt::format("`{}` is null", key));
    return std::nullopt;
}

JsonCursor ProblemReader::required(const JsonCursor& of, const std::string& place,
                                   const std::string& key) const {
    if (const auto found = member(of, place, key)) return *found;
    fail(place, fmt::format("has no `{}`", key));
}

std::string ProblemReader::text(const JsonCursor& of, const std::string& place,
                                const std::string& what) const {
    if (!of.is_string()) fail(place, fmt::format("{} is {}, expected a text", what, of.shown()));
    return of.string();
}

int64_t ProblemReader::integer(const JsonCursor& of, const std::string& place, const std::string& what,
                               int64_t low) const {
    const int64_t high = low < 0 ? -low : kLargest;
    try {
        return of.integer(low, high);
    } catch (const Error& error) {
        fail(place, fmt::format("{} {}", what, error.problem));
    }
}

double ProblemReader::number(const JsonCursor& of, const std::string& place, const std::string& what,
                             double low) const {
    try {
        return of.real(low, std::numeric_limits<double>::max());
    } catch (const Error&) {
        fail(place, fmt::format("{} is {}, expected a number {}", what, of.shown(),
                                low > 0 ? "above 0 that a float64 holds in full" : "from 0"));
    }
}

std::vector<JsonCursor> ProblemReader::list(const JsonCursor& of, const std::string& place,
                                            const std::string& what) const {
    if (!of.is_array()) fail(place, fmt::format("{} is {}, expected a list", what, of.shown()));
    return of.items();
}

std::vector<std::string> ProblemReader::keys(const JsonCursor& of, const std::string& place,
                                             const std::string& what) const {
    if (!of.is_object()) fail(place, fmt::format("{} is {}, expected an object", what, of.shown()));
    return of.keys();
}

void ProblemReader::read_variables(const JsonCursor& variables) {
    const std::vector<std::string> names = keys(variables, "variables", "it");
    if (names.empty()) fail("variables", "there is none, expected at least one");
    if (names.size() > kMostVariables)
        fail("variables", fmt::format("there are {}, at most {} are read", names.size(), kMostVariables));
    for (const std::string& name : names) {
        const std::string place = fmt::format("variable {}", shown(name));
        if (!is_name(name)) fail(place, "is no name: letters, digits and _, not a digit first");
        Variable variable{.name = name, .domain = {}};
        const std::vector<JsonCursor> values = list(required(variables, place, name), place, "the domain");
        if (values.empty()) fail(place, "the domain is empty");
        if (values.size() > kMostValues)
            fail(place,
                 fmt::format("the domain has {} values, at most {} are read", values.size(), kMostValues));
        for (size_t i = 0; i < values.size(); ++i) {
            const int64_t value = integer(values[i], place, fmt::format("value {}", i), 0);
            if (i > 0 && value <= variable.domain.back())
                fail(place, fmt::format("value {} is {} after {}, expected increasing values", i, value,
                                        variable.domain.back()));
            variable.domain.push_back(value);
        }
        problem_.variables.push_back(std::move(variable));
    }
}

size_t ProblemReader::variable(const std::string& name, const std::string& place) const {
    const auto at = std::lower_bound(problem_.variables.begin(), problem_.variables.end(), name,
                                     [](const Variable& v, const std::string& n) { return v.name < n; });
    if (at != problem_.variables.end() && at->name == name)
        return static_cast<size_t>(at - problem_.variables.begin());
    std::vector<std::string> known;
    for (const Variable& v : problem_.variables) known.push_back(v.name);
    const std::vector<std::string> near = near_names(name, known);
    fail(place, fmt::format("names `{}`, which is no variable", shown(name)),
         near.empty() ? "" : fmt::format("did you mean `{}`?", near.front()));
}

Operand ProblemReader::operand(const JsonCursor& of, const std::string& place) const {
    if (!of.is_string()) {
        if (!of.is_integer())
            fail(place, fmt::format("a pair holds {}, expected a variable or an integer", of.shown()));
        return integer(of, place, "a number of a pair", 1);
    }
    const size_t index = variable(of.string(), place);
    if (problem_.variables[index].domain.front() == 0)
        fail(place, fmt::format("`{}` stands in a pair, but may be 0", problem_.variables[index].name));
    return VariableIndex{index};
}

std::vector<Pair> ProblemReader::pairs(const JsonCursor& of, const std::string& place,
                                       const std::string& what) const {
    std::vector<Pair> result;
    for (const JsonCursor& item : list(of, place, what)) {
        const std::vector<JsonCursor> pair = list(item, place, "a pair");
        if (pair.size() != 2) fail(place, fmt::format("{} is no pair", item.shown()));
        const Operand a = operand(pair[0], place), b = operand(pair[1], place);
        result.push_back({a, b});
    }
    return result;
}

Term ProblemReader::term(const JsonCursor& of, const std::string& place) const {
    check_keys(of, place, {"coefficient", "powers", "trips", "if"});
    Term result;
    result.coefficient = number(required(of, place, "coefficient"), place, "`coefficient`",
                                std::numeric_limits<double>::min());
    if (const auto powers = member(of, place, "powers"))
        for (const std::string& name : keys(*powers, place, "`powers`")) {
            const size_t v = variable(name, place);
            const auto exponent =
                static_cast<int>(integer(required(*powers, place, name), place,
                                         fmt::format("the exponent of `{}`", name), -kMostExponent));
            if (exponent == 0) fail(place, fmt::format("the exponent of `{}` is 0", name));
            if (exponent < 0 && problem_.variables[v].domain.front() == 0)
                fail(place, fmt::format("divides by `{}`, which may be 0", name));
            result.powers.push_back({v, exponent});
        }
    if (const auto trips = member(of, place, "trips")) result.trips = pairs(*trips, place, "`trips`");
    if (result.trips.size() > kMostTrips) fail(place, fmt::format("has more than {} trips", kMostTrips));
    if (const auto conditions = member(of, place, "if"))
        for (const std::string& name : keys(*conditions, place, "`if`")) {
            const size_t v = variable(name, place);
            result.conditions.push_back({v, integer(required(*conditions, place, name), place,
                                                    fmt::format("`if` of `{}`", name), 0)});
        }
    return result;
}

std::vector<Constraint> ProblemReader::sums(const JsonCursor& of, const std::string& kind, bool is_limited) {
    std::vector<Constraint> result;
    std::set<std::string> names;
    for (const JsonCursor& item : list(of, kind, "it")) {
        const std::string number_place = fmt::format("{} {}", kind, result.size());
        std::vector<std::string> known = {"name", "terms"};
        if (is_limited) known.emplace_back("most");
        check_keys(item, number_place, known);
        Constraint made;
        made.sum.name = text(required(item, number_place, "name"), number_place, "`name`");
        const std::string place = fmt::format("{} {}", kind, shown(made.sum.name));
        if (!names.insert(made.sum.name).second) fail(place, "is there twice");
        if (is_limited) made.most = number(required(item, place, "most"), place, "`most`", 0);
        for (const JsonCursor& each : list(required(item, place, "terms"), place, "`terms`")) {
            if (++terms_ > kMostTerms)
                fail(place, fmt::format("is beyond the {} terms that are read", kMostTerms));
            const std::string at = fmt::format("{}, term {}", place, made.sum.terms.size());
            made.sum.terms.push_back(term(each, at));
        }
        for (size_t t = 0; t < made.sum.terms.size(); ++t)
            if (!is_in_range(problem_, made.sum.terms[t], made.sum.terms.size()))
                fail(fmt::format("{}, term {}", place, t),
                     "may become larger or smaller than a float64 holds", "count in a larger unit");
        result.push_back(std::move(made));
    }
    return result;
}

Problem ProblemReader::read(const JsonCursor& file) {
    check_keys(file, "instance", {"name", "about", "variables", "constraints", "multiple", "objective"});
    problem_.name = text(required(file, "instance", "name"), "instance", "`name`");
    if (const auto about = member(file, "instance", "about")) (void)text(*about, "instance", "`about`");
    read_variables(required(file, "instance", "variables"));
    if (const auto constraints = member(file, "instance", "constraints"))
        problem_.constraints = sums(*constraints, "constraints", true);
    if (const auto multiple = member(file, "instance", "multiple"))
        problem_.multiples = pairs(*multiple, "multiple", "it");
    for (Constraint& made : sums(required(file, "instance", "objective"), "objective", false))
        problem_.objective.push_back(std::move(made.sum));
    if (problem_.objective.empty()) fail("objective", "has no sum, expected at least one");
    if (const int64_t entries = table_entries(problem_); entries > kMostTableEntries)
        fail("instance",
             fmt::format("needs tables of {} numbers, at most {} are made", entries, kMostTableEntries),
             "make the domains coarser");
    return std::move(problem_);
}

}  // namespace

Problem read_problem(std::string_view json, const std::string& where) {
    return ProblemReader(where).read(parse_json(json, where, kBounds));
}

}  // namespace tessera::tiles
