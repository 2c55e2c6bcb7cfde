#include <fmt/ranges.h>

#include "run/jinja/expression_parser.h"
#include "support/near_names.h"

// Suffixes of a value: attributes, indices, calls, filters and tests.

namespace tessera::jinja {
namespace {

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
    const std::vector<std::string> near = near_names(name, known);
    return near.empty() ? std::string() : fmt::format("known are, among others, {}", fmt::join(near, ", "));
}

}  // namespace

ExpressionPtr ExpressionParser::postfix(ExpressionPtr value) {
    while (true) {
        const Position position = tokens_.peek().position;
        if (tokens_.at_operator(".") || tokens_.at_operator("["))
            value = subscript(std::move(value));
        else if (tokens_.at_operator("("))
            value = make(position, Call{std::move(value), arguments()});
        else
            return value;
    }
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr value) {
    while (true) {
        const Position position = tokens_.peek().position;
        if (tokens_.skip_operator("|")) {
            FilterCall call = filter();
            call.input = std::move(value);
            value = make(position, std::move(call));
        } else if (tokens_.at_name("is")) {
            value = test(std::move(value));
        } else if (tokens_.at_operator("(")) {
            value = make(position, Call{std::move(value), arguments()});
        } else {
            return value;
        }
    }
}

FilterCall ExpressionParser::filter() {
    const Position position = tokens_.peek().position;
    const std::string name = tokens_.expect_any_name("the name of a filter");
    const Filter found = find_filter(name);
    if (found == nullptr)
        unknown_.push_back(
            {position, fmt::format("there is no filter `{}`", name), nearest(name, filter_names())});
    FilterCall call{name, found, nullptr, {}};
    if (tokens_.at_operator("(")) call.arguments = arguments();
    return call;
}

void ExpressionParser::refuse_unknown() const {
    if (!unknown_.empty())
        tokens_.fail(unknown_.front().position, unknown_.front().problem, unknown_.front().advice);
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr value) {
    const Token& token = tokens_.take();
    const Position position = token.position;
    if (token.text == ".") {
        if (tokens_.peek().kind == TokenKind::kInteger)
            return make(position,
                        Item{std::move(value), make(position, Literal{Value::of(tokens_.take().integer)})});
        return make(position, Attribute{std::move(value), tokens_.expect_any_name("a name or a number")});
    }
    std::vector<ExpressionPtr> bounds;
    bool is_slice = false;
    while (true) {
        const bool is_absent = tokens_.at_operator(":") || tokens_.at_operator("]");
        if (is_absent && bounds.empty() && !is_slice && tokens_.at_operator("]"))
            tokens_.fail_expected("an index");
        bounds.push_back(is_absent ? nullptr : expression());
        if (!tokens_.at_operator(":") || bounds.size() == 3) break;
        tokens_.take();
        is_slice = true;
    }
    if (tokens_.at_operator(","))
        tokens_.fail(tokens_.peek().position, "an index of several values is not supported");
    tokens_.expect_operator("]");
    if (!is_slice) return make(position, Item{std::move(value), std::move(bounds[0])});
    bounds.resize(3);
    return make(position, jinja::Slice{std::move(value), std::move(bounds[0]), std::move(bounds[1]),
                                       std::move(bounds[2])});
}

CallArguments ExpressionParser::arguments() {
    CallArguments result;
    tokens_.expect_operator("(");
    while (!tokens_.at_operator(")")) {
        const Position position = tokens_.peek().position;
        const auto ensure = [&](bool holds) {
            if (!holds) tokens_.fail(position, "arguments are in a wrong order");
        };
        if (tokens_.skip_operator("*")) {
            ensure(!result.more_positional && !result.more_named);
            result.more_positional = expression();
        } else if (tokens_.skip_operator("**")) {
            ensure(!result.more_named);
            result.more_named = expression();
        } else if (tokens_.peek().kind == TokenKind::kName && tokens_.peek(1).is(TokenKind::kOperator, "=")) {
            ensure(!result.more_named);
            const std::string name = tokens_.take().text;
            tokens_.take();
            for (const auto& [other, value] : result.named)
                if (other == name)
                    tokens_.fail(position, fmt::format("the argument `{}` is given twice", name));
            result.named.emplace_back(name, expression());
        } else {
            ensure(result.named.empty() && !result.more_positional && !result.more_named);
            result.positional.push_back(expression());
        }
        if (!tokens_.skip_operator(",")) break;
    }
    tokens_.expect_operator(")");
    return result;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
    const Position position = tokens_.take().position;
    const bool is_negated = tokens_.skip_name("not");
    const Position named_at = tokens_.peek().position;
    const std::string name = tokens_.expect_any_name("the name of a test");
    const Test found = find_test(name);
    if (found == nullptr)
        unknown_.push_back(
            {named_at, fmt::format("there is no test `{}`", name), nearest(name, test_names())});
    TestCall call{name, found, std::move(value), {}};
    const Token& next = tokens_.peek();
    const bool begins_value = next.kind == TokenKind::kName || next.kind == TokenKind::kString ||
                              next.kind == TokenKind::kInteger || next.kind == TokenKind::kFloat ||
                              tokens_.at_operator("[") || tokens_.at_operator("{");
    const bool is_word = tokens_.at_name("else") || tokens_.at_name("or") || tokens_.at_name("and");
    if (tokens_.at_operator("(")) {
        call.arguments = arguments();
    } else if (begins_value && !is_word) {
        if (tokens_.at_name("is")) tokens_.fail(next.position, "a test of a test needs brackets");
        const Nesting nesting(*this);
        call.arguments.positional.push_back(postfix(primary()));
    }
    ExpressionPtr result = make(position, std::move(call));
    return is_negated ? make(position, Unary{UnaryOperator::kNot, std::move(result)}) : std::move(result);
}

Target ExpressionParser::target(bool several) {
    const auto one = [&] {
        Target target{tokens_.peek().position, {}, {}, {}};
        if (several && tokens_.skip_operator("(")) {
            const Nesting nesting(*this);
            target = this->target(true);
            tokens_.expect_operator(")");
            return target;
        }
        target.name = tokens_.expect_any_name("a name");
        if (tokens_.skip_operator(".")) target.attribute = tokens_.expect_any_name("a name");
        for (const std::string_view word : {"true", "false", "none", "True", "False", "None"})
            if (target.name == word)
                tokens_.fail(target.position, fmt::format("`{}` is a constant", target.name));
        return target;
    };
    Target first = one();
    if (!several || !tokens_.at_operator(",")) return first;
    Target all{first.position, {}, {}, {}};
    all.parts.push_back(std::move(first));
    while (tokens_.skip_operator(",") && !ends_tuple() && !tokens_.at_operator("="))
        all.parts.push_back(one());
    return all;
}

}  // namespace tessera::jinja
