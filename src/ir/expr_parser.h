#pragma once

#include "ir/definition.h"
#include "ir/lexer.h"

namespace tessera {

/// The place of an expression, which decides the names that it may use.
enum class ExprContext : uint8_t {
    kExtent,    ///< of an iterator, an axis: dims
    kIndexMap,  ///< declared map of an index operand: iterators and dims
    kMap,       ///< any other component of a map: index operands too
    kBody,      ///< all operands, and one monoid call
    kWhere,     ///< all operands
    kFill,      ///< dims, and `i`
};

/// Reads expressions by recursive descent. Names are resolved in the definition as far as it is known: names
/// declared later are unknown. The verifier checks the permitted *forms* of maps and extents.
class ExprParser {
public:
    ExprParser(TokenStream& tokens, const Definition& definition, ExprContext context)
        : tokens_(tokens), definition_(definition), context_(context) {}

    ExprPtr parse();
    /// `e, e, ...` up to the closing bracket, which is consumed.
    std::vector<ExprPtr> parse_list(std::string_view closing, std::string_view context);

    /// The monoid call that was found (its place in the expression is Folded), with its arguments.
    Monoid monoid() const { return monoid_; }
    const std::vector<ExprPtr>& monoid_arguments() const { return monoid_arguments_; }

private:
    ExprPtr parse_or();
    ExprPtr parse_and();
    ExprPtr parse_not();
    ExprPtr parse_comparison();
    ExprPtr parse_sum();
    ExprPtr parse_term();
    ExprPtr parse_unary();
    ExprPtr parse_primary();
    ExprPtr parse_name();
    ExprPtr parse_call(const Token& name);
    ExprPtr parse_monoid(Monoid monoid, std::vector<ExprPtr> arguments);
    ExprPtr parse_read(int tensor);
    ExprPtr binary(Function function, ExprPtr left, ExprPtr right);

    TokenStream& tokens_;
    const Definition& definition_;
    ExprContext context_;
    int depth_ = 0;
    Monoid monoid_ = Monoid::kNone;
    std::vector<ExprPtr> monoid_arguments_;
};

}  // namespace tessera
