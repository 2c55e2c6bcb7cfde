#include "ir/expr_parser.h"

#include <array>
#include <optional>
#include <utility>

#include "support/error.h"

namespace tessera {
namespace {

/// Deeper nesting than any operator needs; it keeps the recursion of parser and tree walks small.
constexpr int kDeepestNesting = 200;

struct NestingGuard {
    NestingGuard(int& depth, const TokenStream& tokens) : depth_(depth) {
        if (++depth_ > kDeepestNesting) {
            tokens.fail("",
                        fmt::format("the expression is nested more than {} levels deep", kDeepestNesting));
        }
    }
    ~NestingGuard() { --depth_; }
    NestingGuard(const NestingGuard&) = delete;
    NestingGuard& operator=(const NestingGuard&) = delete;
    int& depth_;
};

constexpr std::array kComparisons = {Function::kLess,         Function::kLessEqual, Function::kGreater,
                                     Function::kGreaterEqual, Function::kEqual,     Function::kNotEqual};
constexpr std::array kTermOperators = {Function::kMul, Function::kDivide, Function::kFloorDiv,
                                       Function::kMod};
constexpr std::array kMonoids = {Monoid::kSum, Monoid::kProd, Monoid::kMax, Monoid::kMin,
                                 Monoid::kSoftmaxSum};

template <size_t N>
std::optional<Function> next_of(const TokenStream& tokens, const std::array<Function, N>& functions) {
    for (Function function : functions) {
        if (tokens.at(name(function))) return function;
    }
    return std::nullopt;
}

std::optional<Monoid> monoid_of(std::string_view word) {
    for (Monoid monoid : kMonoids) {
        if (name(monoid) == word) return monoid;
    }
    return std::nullopt;
}

std::string_view names_of(ExprContext context) {
    switch (context) {
        case ExprContext::kExtent:
            return "an extent or shape uses dims only";
        case ExprContext::kFill:
            return "a fill uses dims and `i` only";
        case ExprContext::kIndexMap:
            return "the map of an index operand uses iterators and dims only";
        case ExprContext::kMap:
            return "a map uses iterators, dims and index operands that are declared before it";
        case ExprContext::kBody:
        case ExprContext::kWhere:
            break;
    }
    return "expected an iterator, a dim or an operand that is declared before it";
}

std::optional<Function> called_function(std::string_view word) {
    for (size_t i = 0; i < kFunctions; ++i) {
        const auto function = static_cast<Function>(i);
        if (is_called(function) && name(function) == word) return function;
    }
    return std::nullopt;
}

}  // namespace

ExprPtr ExprParser::parse() {
    return parse_or();
}

std::vector<ExprPtr> ExprParser::parse_list(std::string_view closing, std::string_view context) {
    std::vector<ExprPtr> list;
    do {
        list.push_back(parse_or());
    } while (tokens_.accept(","));
    tokens_.expect(closing, context);
    return list;
}

ExprPtr ExprParser::binary(Function function, ExprPtr left, ExprPtr right) {
    return apply(function, {std::move(left), std::move(right)});
}

ExprPtr ExprParser::parse_or() {
    const NestingGuard guard(depth_, tokens_);
    ExprPtr left = parse_and();
    while (tokens_.accept("or")) left = binary(Function::kOr, left, parse_and());
    return left;
}

ExprPtr ExprParser::parse_and() {
    ExprPtr left = parse_not();
    while (tokens_.accept("and")) left = binary(Function::kAnd, left, parse_not());
    return left;
}

ExprPtr ExprParser::parse_not() {
    if (!tokens_.accept("not")) return parse_comparison();
    const NestingGuard guard(depth_, tokens_);
    return apply(Function::kNot, {parse_not()});
}

ExprPtr ExprParser::parse_comparison() {
    ExprPtr left = parse_sum();
    const auto comparison = next_of(tokens_, kComparisons);
    if (!comparison) return left;
    tokens_.next();
    ExprPtr right = parse_sum();
    if (next_of(tokens_, kComparisons)) {
        tokens_.fail(
            "",
            fmt::format("found `{}` after a comparison, and comparisons do not chain", tokens_.peek().text),
            "join two comparisons by `and`");
    }
    return binary(*comparison, left, right);
}

ExprPtr ExprParser::parse_sum() {
    ExprPtr left = parse_term();
    while (tokens_.at("+") || tokens_.at("-")) {
        const Function function = tokens_.next().text == "+" ? Function::kAdd : Function::kSub;
        left = binary(function, left, parse_term());
    }
    return left;
}

ExprPtr ExprParser::parse_term() {
    ExprPtr left = parse_unary();
    while (const auto function = next_of(tokens_, kTermOperators)) {
        tokens_.next();
        left = binary(*function, left, parse_unary());
    }
    return left;
}

ExprPtr ExprParser::parse_unary() {
    if (!tokens_.accept("-")) return parse_primary();
    const NestingGuard guard(depth_, tokens_);
    return apply(Function::kNegate, {parse_unary()});
}

ExprPtr ExprParser::parse_primary() {
    switch (tokens_.peek().kind) {
        case Token::Kind::kInteger:
            return number(tokens_.next().integer);
        case Token::Kind::kReal:
            return real(tokens_.next().real);
        case Token::Kind::kName:
            return parse_name();
        case Token::Kind::kText:
        case Token::Kind::kSymbol:
        case Token::Kind::kEnd:
            break;
    }
    if (!tokens_.accept("(")) tokens_.fail_expecting("an expression");
    ExprPtr inner = parse_or();
    tokens_.expect(")", "at the end of the parenthesis");
    return inner;
}

ExprPtr ExprParser::parse_name() {
    const Token word = tokens_.peek();
    if (word.text == "inf") {
        tokens_.next();
        return infinity();
    }
    const bool is_wide_call = tokens_.peek(1).text == "(" && called_function(word.text);
    if (is_reserved(word.text) || is_wide_call) {
        if (tokens_.peek(1).text != "(") tokens_.fail_expecting("an expression");
        tokens_.next();
        return parse_call(word);
    }
    tokens_.next();
    if (tokens_.at("(")) tokens_.fail(std::string(word.text), "is not a function of the notation");
    if (context_ == ExprContext::kFill && word.text == "i") return fill_position();
    if (const int dim = definition_.dim(word.text); dim >= 0) return dim_ref(dim);
    const int iterator = definition_.iterator(word.text);
    const int tensor = definition_.tensor(word.text);
    const bool is_symbolic = context_ == ExprContext::kExtent || context_ == ExprContext::kFill;
    if (iterator >= 0 && !is_symbolic) return iterator_ref(iterator);
    if (tensor >= 0 && !is_symbolic) return parse_read(tensor);
    const std::string_view problem = tensor >= 0     ? "is a tensor and cannot stand here"
                                     : iterator >= 0 ? "is an iterator and cannot stand here"
                                                     : "is not declared";
    tokens_.fail(std::string(word.text), std::string(problem), std::string(names_of(context_)));
}

ExprPtr ExprParser::parse_read(int tensor) {
    const TensorDecl& decl = definition_.tensors[static_cast<size_t>(tensor)];
    if (decl.is_result() && !(definition_.is_recurrence() && context_ == ExprContext::kBody)) {
        tokens_.fail(decl.name, "is a result and cannot be read");
    }
    if (context_ == ExprContext::kIndexMap) {
        tokens_.fail(decl.name, "cannot stand here: the map of an index operand is never indirect");
    }
    if (context_ == ExprContext::kMap && decl.role != Role::kIndex) {
        tokens_.fail(decl.name, "is not an index operand, and a map reads nothing else",
                     "declare it by `index`");
    }
    if (!tokens_.accept("[")) return read(tensor, decl.map, true);
    ExprParser coordinates(tokens_, definition_, ExprContext::kMap);
    coordinates.depth_ = depth_;
    std::vector<ExprPtr> list =
        coordinates.parse_list("]", fmt::format("after the coordinates of `{}`", decl.name));
    if (list.size() != decl.map.size()) {
        tokens_.fail(decl.name, fmt::format("is read with {} coordinates, but has {} axes", list.size(),
                                            decl.map.size()));
    }
    return read(tensor, std::move(list), false);
}

ExprPtr ExprParser::parse_call(const Token& word) {
    const std::optional<Monoid> monoid = monoid_of(word.text);
    const std::optional<ElementType> type = element_type_of(word.text);
    const std::optional<Function> function = called_function(word.text);
    if (!monoid && !type && !function)
        tokens_.fail(std::string(word.text), "is not a function of the notation");
    tokens_.expect("(", "after the function");
    std::vector<ExprPtr> arguments = parse_list(")", fmt::format("after the arguments of `{}`", word.text));
    const auto expect_arguments = [&](size_t expected) {
        if (arguments.size() == expected) return;
        tokens_.fail(std::string(word.text),
                     fmt::format("has {} arguments, expected {}", arguments.size(), expected));
    };
    if (type) {
        expect_arguments(1);
        return cast(*type, arguments.front());
    }
    if (function && !(monoid && arguments.size() == 1)) {
        expect_arguments(static_cast<size_t>(arity(*function)));
        return apply(*function, std::move(arguments));
    }
    expect_arguments(*monoid == Monoid::kSoftmaxSum ? 2 : 1);
    return parse_monoid(*monoid, std::move(arguments));
}

ExprPtr ExprParser::parse_monoid(Monoid monoid, std::vector<ExprPtr> arguments) {
    if (context_ != ExprContext::kBody) {
        tokens_.fail(std::string(name(monoid)),
                     "is a monoid call, which stands in the body of a result only");
    }
    if (monoid_ != Monoid::kNone) {
        tokens_.fail(std::string(name(monoid)),
                     fmt::format("is a second monoid call after `{}`, expected one at most", name(monoid_)));
    }
    monoid_ = monoid;
    monoid_arguments_ = std::move(arguments);
    return folded();
}

}  // namespace tessera
