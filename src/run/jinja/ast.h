#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "run/jinja/builtins.h"
#include "run/jinja/context.h"
#include "run/jinja/value.h"

/// The tree of a template. It is built once and never changes.
namespace tessera::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Literal {
    Value value;
};
struct Name {
    std::string name;
};
struct ListOf {
    std::vector<ExpressionPtr> items;
    bool is_tuple = false;
};
struct DictOf {
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
};
enum class UnaryOperator { kNot, kMinus, kPlus };
struct Unary {
    UnaryOperator op;
    ExpressionPtr operand;
};
enum class BinaryOperator { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kRemainder, kPower };
struct Binary {
    BinaryOperator op;
    ExpressionPtr left, right;
};
/// `and`, `or`: one of the operands.
struct Logic {
    bool is_and;
    ExpressionPtr left, right;
};
/// `~`
struct Concatenation {
    std::vector<ExpressionPtr> parts;
};
enum class Comparison { kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };
/// a < b < c: every neighbouring pair must hold.
struct Compare {
    ExpressionPtr first;
    std::vector<std::pair<Comparison, ExpressionPtr>> rest;
};
struct Conditional {
    ExpressionPtr condition, yes, no;  ///< `no` may be absent
};
struct Attribute {
    ExpressionPtr object;
    std::string name;
};
struct Item {
    ExpressionPtr object, index;
};
struct Slice {
    ExpressionPtr object, start, stop, step;  ///< the last three may be absent
};
struct CallArguments {
    std::vector<ExpressionPtr> positional;
    std::vector<std::pair<std::string, ExpressionPtr>> named;
    ExpressionPtr more_positional, more_named;  ///< *args, **kwargs; may be absent
};
struct Call {
    ExpressionPtr callee;
    CallArguments arguments;
};
struct FilterCall {
    std::string name;
    Filter filter;        ///< null: unknown, which is an error when it is reached
    ExpressionPtr input;  ///< absent in {% filter %} and {% set %}: the block's text
    CallArguments arguments;
};
struct TestCall {
    std::string name;
    Test test;  ///< likewise
    ExpressionPtr input;
    CallArguments arguments;
};

struct Expression {
    using Node = std::variant<Literal, Name, ListOf, DictOf, Unary, Binary, Logic, Concatenation, Compare,
                              Conditional, Attribute, Item, Slice, Call, FilterCall, TestCall>;
    Position position;
    Node node;
    int depth = 1;  ///< of nodes below each other
};

struct Statement;
using Body = std::vector<Statement>;

/// The target of an assignment: a name, an attribute of a namespace, or several of these.
struct Target {
    Position position;
    std::string name;
    std::string attribute;
    std::vector<Target> parts;  ///< of a tuple
};

struct Data {
    std::string text;
};
struct Output {
    ExpressionPtr value;
};
struct If {
    std::vector<std::pair<ExpressionPtr, Body>> branches;
    Body otherwise;
};
struct For {
    Target target;
    ExpressionPtr items, filter;  ///< `filter` may be absent
    Body body, otherwise;
};
struct Set {
    Target target;
    ExpressionPtr value;
};
struct SetBlock {
    Target target;
    std::vector<FilterCall> filters;
    Body body;
};
struct Signature {
    std::vector<std::string> parameters;
    std::vector<ExpressionPtr> defaults;  ///< of the last parameters
    bool uses_varargs = false;
    bool uses_kwargs = false;
    bool uses_caller = false;
};
struct Macro {
    std::string name;
    Signature signature;
    Body body;
};
/// {% call(...) macro(...) %}
struct CallBlock {
    Signature signature;
    ExpressionPtr call;
    Body body;
};
struct FilterBlock {
    std::vector<FilterCall> filters;
    Body body;
};
struct With {
    std::vector<std::pair<Target, ExpressionPtr>> values;
    Body body;
};
/// {% generation %} of `transformers`: marks the assistant's text, and changes nothing.
struct Generation {
    Body body;
};
struct Break {};
struct Continue {};

struct Statement {
    Position position;
    std::variant<Data, Output, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With, Generation, Break,
                 Continue>
        node;
};

}  // namespace tessera::jinja
