#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/jinja/ast.h"
#include "run/jinja/token_stream.h"

namespace tessera::jinja {

/// Parses expressions, by recursive descent in the order of Jinja2:
///
///     if-else > or > and > not > comparison, in > + - > ~ > * / // % > ** > unary > . [] () > | is
class ExpressionParser {
public:
    explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

    /// @param with_condition allows "a if b else c"; false in the header of a loop, whose `if` is a filter
    ExpressionPtr expression(bool with_condition = true);
    /// Several expressions with commas between them form a tuple.
    ExpressionPtr tuple(bool with_condition = true);
    /// The arguments after the name of a filter or macro: "(a, b=c)".
    CallArguments arguments();
    /// The name of a filter and its arguments; the input is absent.
    FilterCall filter();
    Target target(bool several);

    /// Unknown filters and tests. As in Jinja2 they are an error when the template is read, except in
    /// branches, which may never be taken: there they are an error when reached.
    size_t unknown() const { return unknown_.size(); }
    /// All after the first `count` are in a branch.
    void allow_unknown(size_t count) { unknown_.resize(count); }
    /// @throws Error naming the first that is not in a branch
    void refuse_unknown() const;

    /// Names that were read since the last call.
    std::set<std::string> take_names() { return std::exchange(names_, {}); }
    void add_names(const std::set<std::string>& names) { names_.insert(names.begin(), names.end()); }

private:
    class Nesting {
    public:
        explicit Nesting(ExpressionParser& parser);
        ~Nesting() { --parser_.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        ExpressionParser& parser_;
    };

    struct Unknown {
        Position position;
        std::string problem;
        std::string advice;
    };

    ExpressionPtr make(Position position, Expression::Node node) const;
    ExpressionPtr disjunction();
    ExpressionPtr conjunction();
    ExpressionPtr negation();
    ExpressionPtr comparison();
    ExpressionPtr sum();
    ExpressionPtr concatenation();
    ExpressionPtr product();
    ExpressionPtr power();
    ExpressionPtr unary(bool with_filters);
    ExpressionPtr primary();
    ExpressionPtr postfix(ExpressionPtr value);
    ExpressionPtr filters(ExpressionPtr value);
    ExpressionPtr subscript(ExpressionPtr value);
    ExpressionPtr test(ExpressionPtr value);
    ExpressionPtr list();
    ExpressionPtr dict();
    bool ends_tuple() const;

    TokenStream& tokens_;
    int depth_ = 0;
    std::set<std::string> names_;
    std::vector<Unknown> unknown_;
};

}  // namespace tessera::jinja
