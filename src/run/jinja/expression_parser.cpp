#include "run/jinja/expression_parser.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tessera::jinja {
namespace {

/// The limit of nested expressions.
constexpr int kMostNesting = 64;
/// The limit of nested nodes: operators in a row nest as well, and evaluating and destroying them recurses.
constexpr int kMostDepth = 200;

/// The greatest depth of a node's children.
struct Deepest {
    int depth = 0;

    void add(const ExpressionPtr& child) { depth = std::max(depth, child ? child->depth : 0); }
    void add(const std::pair<std::string, ExpressionPtr>& child) { add(child.second); }
    void add(const std::pair<Comparison, ExpressionPtr>& child) { add(child.second); }
    void add(const std::pair<ExpressionPtr, ExpressionPtr>& child) { add(child.first), add(child.second); }
    void add(const CallArguments& arguments) {
        all(arguments.positional);
        all(arguments.named);
        add(arguments.more_positional), add(arguments.more_named);
    }
    template <typename Children>
    void all(const Children& children) {
        for (const auto& child : children) add(child);
    }

    void operator()(const Literal&) {}
    void operator()(const Name&) {}
    void operator()(const ListOf& node) { all(node.items); }
    void operator()(const DictOf& node) { all(node.items); }
    void operator()(const Unary& node) { add(node.operand); }
    void operator()(const Binary& node) { add(node.left), add(node.right); }
    void operator()(const Logic& node) { add(node.left), add(node.right); }
    void operator()(const Concatenation& node) { all(node.parts); }
    void operator()(const Compare& node) { add(node.first), all(node.rest); }
    void operator()(const Conditional& node) { add(node.condition), add(node.yes), add(node.no); }
    void operator()(const Attribute& node) { add(node.object); }
    void operator()(const Item& node) { add(node.object), add(node.index); }
    void operator()(const jinja::Slice& node) {
        add(node.object), add(node.start), add(node.stop), add(node.step);
    }
    void operator()(const Call& node) { add(node.callee), add(node.arguments); }
    void operator()(const FilterCall& node) { add(node.input), add(node.arguments); }
    void operator()(const TestCall& node) { add(node.input), add(node.arguments); }
};

std::optional<Comparison> comparison_of(const Token& token) {
    constexpr std::array<std::pair<std::string_view, Comparison>, 6> kNamed = {
        {{"==", Comparison::kEqual},
         {"!=", Comparison::kUnequal},
         {"<", Comparison::kLess},
         {"<=", Comparison::kLessEqual},
         {">", Comparison::kGreater},
         {">=", Comparison::kGreaterEqual}}};
    if (token.kind != TokenKind::kOperator) return std::nullopt;
    for (const auto& [text, comparison] : kNamed)
        if (token.text == text) return comparison;
    return std::nullopt;
}

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
    if (++parser.depth_ > kMostNesting)
        parser.tokens_.fail(parser.tokens_.peek().position, "expressions are too deep inside each other");
}

ExpressionPtr ExpressionParser::make(Position position, Expression::Node node) const {
    Deepest deepest;
    std::visit([&](const auto& kind) { deepest(kind); }, node);
    if (deepest.depth >= kMostDepth) tokens_.fail(position, "the expression has too many parts in a row");
    return std::make_unique<const Expression>(Expression{position, std::move(node), deepest.depth + 1});
}

ExpressionPtr ExpressionParser::expression(bool with_condition) {
    const Nesting nesting(*this);
    const size_t known = unknown();
    ExpressionPtr value = disjunction();
    while (with_condition && tokens_.at_name("if")) {
        const Position position = tokens_.take().position;
        ExpressionPtr condition = disjunction();
        ExpressionPtr no = tokens_.skip_name("else") ? expression() : nullptr;
        value = make(position, Conditional{std::move(condition), std::move(value), std::move(no)});
        allow_unknown(known);
    }
    return value;
}

ExpressionPtr ExpressionParser::disjunction() {
    ExpressionPtr left = conjunction();
    while (tokens_.at_name("or")) {
        const Position position = tokens_.take().position;
        left = make(position, Logic{false, std::move(left), conjunction()});
    }
    return left;
}

ExpressionPtr ExpressionParser::conjunction() {
    ExpressionPtr left = negation();
    while (tokens_.at_name("and")) {
        const Position position = tokens_.take().position;
        left = make(position, Logic{true, std::move(left), negation()});
    }
    return left;
}

ExpressionPtr ExpressionParser::negation() {
    if (!tokens_.at_name("not")) return comparison();
    const Nesting nesting(*this);
    const Position position = tokens_.take().position;
    return make(position, Unary{UnaryOperator::kNot, negation()});
}

ExpressionPtr ExpressionParser::comparison() {
    ExpressionPtr first = sum();
    Compare compare{nullptr, {}};
    const Position position = tokens_.peek().position;
    while (true) {
        std::optional<Comparison> kind = comparison_of(tokens_.peek());
        if (tokens_.at_name("in")) kind = Comparison::kIn;
        if (tokens_.at_name("not") && tokens_.peek(1).is(TokenKind::kName, "in")) {
            tokens_.take();
            kind = Comparison::kNotIn;
        }
        if (!kind) break;
        tokens_.take();
        compare.rest.emplace_back(*kind, sum());
    }
    if (compare.rest.empty()) return first;
    compare.first = std::move(first);
    return make(position, std::move(compare));
}

ExpressionPtr ExpressionParser::sum() {
    ExpressionPtr left = concatenation();
    while (tokens_.at_operator("+") || tokens_.at_operator("-")) {
        const Token& token = tokens_.take();
        const auto op = token.text == "+" ? BinaryOperator::kAdd : BinaryOperator::kSubtract;
        left = make(token.position, Binary{op, std::move(left), concatenation()});
    }
    return left;
}

ExpressionPtr ExpressionParser::concatenation() {
    ExpressionPtr first = product();
    if (!tokens_.at_operator("~")) return first;
    const Position position = tokens_.peek().position;
    Concatenation whole;
    whole.parts.push_back(std::move(first));
    while (tokens_.skip_operator("~")) whole.parts.push_back(product());
    return make(position, std::move(whole));
}

ExpressionPtr ExpressionParser::product() {
    ExpressionPtr left = power();
    while (true) {
        std::optional<BinaryOperator> op;
        if (tokens_.at_operator("*")) op = BinaryOperator::kMultiply;
        if (tokens_.at_operator("/")) op = BinaryOperator::kDivide;
        if (tokens_.at_operator("//")) op = BinaryOperator::kFloorDivide;
        if (tokens_.at_operator("%")) op = BinaryOperator::kRemainder;
        if (!op) return left;
        const Position position = tokens_.take().position;
        left = make(position, Binary{*op, std::move(left), power()});
    }
}

ExpressionPtr ExpressionParser::power() {
    ExpressionPtr left = unary(true);
    while (tokens_.at_operator("**")) {
        const Position position = tokens_.take().position;
        left = make(position, Binary{BinaryOperator::kPower, std::move(left), unary(true)});
    }
    return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
    ExpressionPtr value;
    if (tokens_.at_operator("-") || tokens_.at_operator("+")) {
        const Nesting nesting(*this);
        const Token& token = tokens_.take();
        const auto op = token.text == "-" ? UnaryOperator::kMinus : UnaryOperator::kPlus;
        const Position position = token.position;
        value = make(position, Unary{op, unary(false)});
    } else {
        value = primary();
    }
    value = postfix(std::move(value));
    return with_filters ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::primary() {
    const Token& token = tokens_.peek();
    const Position position = token.position;
    switch (token.kind) {
        case TokenKind::kName: {
            const std::string name = tokens_.take().text;
            if (name == "true" || name == "True") return make(position, Literal{Value::of(true)});
            if (name == "false" || name == "False") return make(position, Literal{Value::of(false)});
            if (name == "none" || name == "None") return make(position, Literal{Value::none()});
            names_.insert(name);
            return make(position, Name{name});
        }
        case TokenKind::kString: {
            std::string text;
            while (tokens_.peek().kind == TokenKind::kString) text += tokens_.take().text;
            return make(position, Literal{Value::text(text)});
        }
        case TokenKind::kInteger:
            return make(position, Literal{Value::of(tokens_.take().integer)});
        case TokenKind::kFloat:
            return make(position, Literal{Value::of(tokens_.take().real)});
        default:
            break;
    }
    if (tokens_.at_operator("[")) return list();
    if (tokens_.at_operator("{")) return dict();
    if (!tokens_.skip_operator("(")) tokens_.fail_expected("an expression");
    if (tokens_.skip_operator(")")) return make(position, ListOf{{}, true});
    ExpressionPtr inner = tuple();
    tokens_.expect_operator(")");
    return inner;
}

bool ExpressionParser::ends_tuple() const {
    const TokenKind kind = tokens_.peek().kind;
    return kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || tokens_.at_operator(")") ||
           tokens_.at_name("in");
}

ExpressionPtr ExpressionParser::tuple(bool with_condition) {
    const Position position = tokens_.peek().position;
    ExpressionPtr first = expression(with_condition);
    if (!tokens_.at_operator(",")) return first;
    ListOf items{{}, true};
    items.items.push_back(std::move(first));
    while (tokens_.skip_operator(",") && !ends_tuple()) items.items.push_back(expression(with_condition));
    return make(position, std::move(items));
}

ExpressionPtr ExpressionParser::list() {
    const Position position = tokens_.take().position;
    ListOf list;
    while (!tokens_.at_operator("]")) {
        list.items.push_back(expression());
        if (!tokens_.skip_operator(",")) break;
    }
    tokens_.expect_operator("]");
    return make(position, std::move(list));
}

ExpressionPtr ExpressionParser::dict() {
    const Position position = tokens_.take().position;
    DictOf dict;
    while (!tokens_.at_operator("}")) {
        ExpressionPtr key = expression();
        tokens_.expect_operator(":");
        dict.items.emplace_back(std::move(key), expression());
        if (!tokens_.skip_operator(",")) break;
    }
    tokens_.expect_operator("}");
    return make(position, std::move(dict));
}

}  // namespace tessera::jinja
