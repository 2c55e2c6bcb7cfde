#include "import/architecture/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "ir/element_type.h"
#include "support/error.h"

namespace tessera::import {
namespace {

Scalar of(int64_t integer) {
    return {integer};
}

bool are_integers(const Scalar& a, const Scalar& b) {
    return std::holds_alternative<int64_t>(a.data) && std::holds_alternative<int64_t>(b.data);
}

int64_t floor_div(int64_t a, int64_t b) {
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// The number that a standard normal variable stays below with this probability, by bisection.
double probit(double probability) {
    double low = -40, high = 40;
    for (int step = 0; step < 100; ++step) {
        const double middle = (low + high) / 2;
        (std::erfc(-middle / std::sqrt(2.0)) / 2 < probability ? low : high) = middle;
    }
    return low;
}

class Evaluation {
public:
    Evaluation(const Scope& scope, const std::string& where) : scope_(scope), where_(where) {}

    Scalar operator()(const TermPtr& term) const {
        switch (term->kind) {
            case Term::Kind::kNumber:
                if (term->is_integer) return of(static_cast<int64_t>(term->number));
                return {term->number};
            case Term::Kind::kText:
                return {term->name};
            case Term::Kind::kName:
                return named(term->name);
            case Term::Kind::kList: {
                std::vector<Scalar> all;
                for (const TermPtr& each : term->arguments) all.push_back((*this)(each));
                return {std::move(all)};
            }
            case Term::Kind::kElement:
                return element(*term);
            case Term::Kind::kCall:
                break;
        }
        return call(*term);
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem) const {
        throw Error(where_, entity, problem);
    }

    Scalar named(const std::string& name) const {
        if (name == "null") return {Null{}};
        if (name == "stored") return {AsStored{}};
        if (name == "true" || name == "false") return {name == "true"};
        if (name == "inf") return {std::numeric_limits<double>::infinity()};
        if (auto value = scope_(name)) return *value;
        fail(name, "has no value here: it is no setting");
    }

    Scalar element(const Term& term) const {
        const Scalar list = named(term.name);
        if (const auto* text = std::get_if<std::string>(&list.data)) return letter(*text, term);
        const auto* elements = std::get_if<std::vector<Scalar>>(&list.data);
        if (!elements || term.arguments.size() != 1) fail(term.name, "is no list");
        const int64_t index = integer_of((*this)(term.arguments[0]), where_);
        if (index < 0 || index >= std::ssize(*elements))
            fail(term.name,
                 fmt::format("has {} elements, and element {} is asked for", elements->size(), index));
        return (*elements)[static_cast<size_t>(index)];
    }

    /// As a text of one letter.
    Scalar letter(const std::string& text, const Term& term) const {
        const int64_t index =
            term.arguments.size() == 1 ? integer_of((*this)(term.arguments[0]), where_) : -1;
        if (index < 0 || index >= std::ssize(text))
            fail(term.name, fmt::format("has {} letters, and letter {} is asked for", text.size(), index));
        return {std::string(1, text[static_cast<size_t>(index)])};
    }

    double number(const Term& term, size_t argument) const {
        return number_of((*this)(term.arguments[argument]), where_);
    }

    Scalar call(const Term& term) const {
        const std::string& f = term.name;
        if (scalar_arity(f) != std::ssize(term.arguments) || !term.options.empty())
            fail(f, "is no function of settings with these arguments");
        if (f == "and" || f == "or") {
            const bool first = truth_of((*this)(term.arguments[0]), where_);
            if (first == (f == "or")) return {first};
            return {truth_of((*this)(term.arguments[1]), where_)};
        }
        if (f == "select")
            return (*this)(term.arguments[truth_of((*this)(term.arguments[0]), where_) ? 1 : 2]);
        if (f == "given") {
            Scalar first = (*this)(term.arguments[0]);
            return first.is_null() ? (*this)(term.arguments[1]) : first;
        }
        if (f == "stored")
            return {scope_(with_layer(text_of((*this)(term.arguments[0]), where_))).has_value()};
        if (f == "count" || f == "nth") return places(term);
        if (f == "not") return {!truth_of((*this)(term.arguments[0]), where_)};
        if (term.arguments.size() == 1) return unary(term);
        return binary(f, (*this)(term.arguments[0]), (*this)(term.arguments[1]));
    }

    /// The number of the first n elements of a list that have a value; or the index of the n-th that has it.
    Scalar places(const Term& term) const {
        const Scalar list = (*this)(term.arguments[0]), value = (*this)(term.arguments[1]);
        const auto* elements = std::get_if<std::vector<Scalar>>(&list.data);
        const int64_t n = integer_of((*this)(term.arguments[2]), where_);
        if (!elements) fail(term.name, fmt::format("is of a list, not of {}", kind_of(list)));
        if (n < 0 || n > std::ssize(*elements))
            fail(term.name, fmt::format("{} of {} elements", n, elements->size()));
        int64_t found = 0;
        for (int64_t i = 0; i < std::ssize(*elements); ++i) {
            if (term.name == "count" && i == n) break;
            if (!are_equal((*elements)[static_cast<size_t>(i)], value)) continue;
            if (term.name == "nth" && found == n) return of(i);
            ++found;
        }
        if (term.name == "nth") fail(term.name, fmt::format("{} of {} such elements", n, found));
        return of(found);
    }

    /// {} stands for the number of the layer.
    std::string with_layer(std::string name) const {
        if (const size_t at = name.find("{}"); at != std::string::npos)
            name.replace(at, 2, std::to_string(integer_of(named("layer"), where_)));
        return name;
    }

    Scalar unary(const Term& term) const {
        const std::string& f = term.name;
        Scalar a = (*this)(term.arguments[0]);
        if (f == "length") {
            if (const auto* text = std::get_if<std::string>(&a.data)) return of(std::ssize(*text));
            const auto* list = std::get_if<std::vector<Scalar>>(&a.data);
            if (!list) fail(f, fmt::format("is of a list or a text, not of {}", kind_of(a)));
            return of(std::ssize(*list));
        }
        if (f == "is_list") return {std::holds_alternative<std::vector<Scalar>>(a.data)};
        if (const int64_t* i = std::get_if<int64_t>(&a.data)) {
            if (f == "negate") return integers("-", 0, *i);
            if (f == "abs") return of(*i < 0 ? -*i : *i);
            if (f == "round") return a;
        }
        const double x = number_of(a, where_);
        static const std::map<std::string, double (*)(double)> kFunctions = {
            {"negate", [](double v) { return -v; }},
            {"abs", [](double v) { return std::abs(v); }},
            {"exp", [](double v) { return std::exp(v); }},
            {"log", [](double v) { return std::log(v); }},
            {"sqrt", [](double v) { return std::sqrt(v); }},
            {"rsqrt", [](double v) { return 1 / std::sqrt(v); }},
            {"tanh", [](double v) { return std::tanh(v); }},
            {"erf", [](double v) { return std::erf(v); }},
            {"probit", probit},
            {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
            {"bf16", [](double v) { return round_to(ElementType::kBF16, v); }}};
        if (f == "round" || f == "floor") return rounded(f, f == "round" ? std::nearbyint(x) : std::floor(x));
        return {kFunctions.at(f)(x)};
    }

    Scalar rounded(const std::string& f, double x) const {
        if (!(std::abs(x) < 9e15)) fail(f, fmt::format("of {} is no integer", x));
        return of(static_cast<int64_t>(x));
    }

    Scalar integers(const std::string& f, int64_t a, int64_t b) const {
        int64_t result = 0;
        const bool is_arithmetic = f == "+" || f == "-" || f == "*";
        const bool is_beyond = f == "+"   ? __builtin_add_overflow(a, b, &result)
                               : f == "-" ? __builtin_sub_overflow(a, b, &result)
                               : f == "*" ? __builtin_mul_overflow(a, b, &result)
                                          : false;
        if (is_beyond) fail(f, fmt::format("of {} and {} is beyond 64 bits", a, b));
        if (is_arithmetic) return of(result);
        if (f == "min") return of(std::min(a, b));
        if (f == "max") return of(std::max(a, b));
        if (b == 0 || (a == INT64_MIN && b == -1)) fail(f, fmt::format("of {} and {} does not exist", a, b));
        return of(f == "div" ? floor_div(a, b) : a - b * floor_div(a, b));
    }

    Scalar binary(const std::string& f, const Scalar& a, const Scalar& b) const {
        if (f == "==") return {are_equal(a, b)};
        if (f == "!=") return {!are_equal(a, b)};
        if (f == "in") {
            const auto* list = std::get_if<std::vector<Scalar>>(&b.data);
            if (!list) return {false};
            return {std::ranges::any_of(*list, [&](const Scalar& each) { return are_equal(a, each); })};
        }
        const bool is_integer = are_integers(a, b);
        if (f == "div" || f == "mod") return integers(f, integer_of(a, where_), integer_of(b, where_));
        if (is_integer && (f == "+" || f == "-" || f == "*" || f == "min" || f == "max"))
            return integers(f, std::get<int64_t>(a.data), std::get<int64_t>(b.data));
        const double x = number_of(a, where_), y = number_of(b, where_);
        if (f == "+") return {x + y};
        if (f == "-") return {x - y};
        if (f == "*") return {x * y};
        if (f == "/") {
            if (y == 0) fail(f, fmt::format("of {} and 0 does not exist", x));
            return {x / y};
        }
        if (f == "min") return {std::min(x, y)};
        if (f == "max") return {std::max(x, y)};
        if (f == "<") return {x < y};
        if (f == "<=") return {x <= y};
        if (f == ">") return {x > y};
        return {x >= y};
    }

    static bool are_equal(const Scalar& a, const Scalar& b) {
        const auto* i = std::get_if<int64_t>(&a.data);
        const auto* j = std::get_if<int64_t>(&b.data);
        const auto* x = std::get_if<double>(&a.data);
        const auto* y = std::get_if<double>(&b.data);
        if (i && y) return static_cast<double>(*i) == *y;
        if (x && j) return *x == static_cast<double>(*j);
        return a == b;
    }

    const Scope& scope_;
    const std::string& where_;
};

bool is_literal(const std::string& name) {
    return name == "null" || name == "stored" || name == "true" || name == "false" || name == "inf";
}

}  // namespace

int scalar_arity(const std::string& function) {
    static const std::map<std::string, int, std::less<>> kArities = {
        {"and", 2},    {"or", 2},    {"not", 1},    {"+", 2},       {"-", 2},       {"*", 2},
        {"/", 2},      {"div", 2},   {"mod", 2},    {"negate", 1},  {"min", 2},     {"max", 2},
        {"abs", 1},    {"round", 1}, {"floor", 1},  {"exp", 1},     {"log", 1},     {"sqrt", 1},
        {"rsqrt", 1},  {"tanh", 1},  {"erf", 1},    {"probit", 1},  {"sigmoid", 1}, {"<", 2},
        {"<=", 2},     {">", 2},     {">=", 2},     {"==", 2},      {"!=", 2},      {"in", 2},
        {"select", 3}, {"given", 2}, {"length", 1}, {"is_list", 1}, {"bf16", 1},    {"stored", 1},
        {"count", 3},  {"nth", 3}};
    const auto found = kArities.find(function);
    return found == kArities.end() ? 0 : found->second;
}

Scalar evaluate(const TermPtr& term, const Scope& scope, const std::string& where) {
    return Evaluation(scope, where)(term);
}

bool has_value(const TermPtr& term, const Scope& scope) {
    bool has = true;
    walk(term, [&](const Term& each) {
        if (each.kind == Term::Kind::kName && !is_literal(each.name))
            has = has && scope(each.name).has_value();
        if (each.kind == Term::Kind::kElement) has = has && scope(each.name).has_value();
        if (each.kind == Term::Kind::kCall && scalar_arity(each.name) == 0) has = false;
    });
    return has;
}

TermPtr as_term(const Scalar& value) {
    if (const auto* integer = std::get_if<int64_t>(&value.data))
        return number_term(static_cast<double>(*integer), true);
    if (const auto* number = std::get_if<double>(&value.data)) {
        if (!std::isinf(*number)) return number_term(*number, false);
        return *number > 0 ? name_term("inf") : call_term("negate", {name_term("inf")});
    }
    if (const auto* text = std::get_if<std::string>(&value.data)) return text_term(*text);
    if (const auto* list = std::get_if<std::vector<Scalar>>(&value.data)) {
        std::vector<TermPtr> elements;
        for (const Scalar& each : *list) elements.push_back(as_term(each));
        return list_term(std::move(elements));
    }
    return name_term(print(value));
}

TermPtr folded(const TermPtr& term, const Scope& scope, const std::string& where) {
    if (has_value(term, scope)) return as_term(evaluate(term, scope, where));
    if (term->is_call("select") && term->arguments.size() == 3 && has_value(term->arguments[0], scope)) {
        const bool is_first = truth_of(evaluate(term->arguments[0], scope, where), where);
        return folded(term->arguments[is_first ? 1 : 2], scope, where);
    }
    Term result = *term;
    for (TermPtr& argument : result.arguments) argument = folded(argument, scope, where);
    for (auto& [name, value] : result.options) value = folded(value, scope, where);
    return std::make_shared<const Term>(std::move(result));
}

}  // namespace tessera::import
