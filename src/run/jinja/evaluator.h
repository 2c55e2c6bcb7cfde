#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/jinja/ast.h"
#include "run/jinja/context.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

/// The variables of one scope, inside another. A name that is set is of the innermost scope.
class Frame {
public:
    explicit Frame(Frame* outer) : outer_(outer) {}

    void set(const std::string& name, Value value);
    /// The variable of this scope or of the nearest one around it; null where there is none.
    const Value* find(const std::string& name) const;
    /// A macro refers to the scope, which must live on.
    void capture();
    bool is_captured() const { return is_captured_; }

private:
    Frame* outer_;
    bool is_captured_ = false;
    std::vector<std::pair<std::string, Value>> variables_;
};

/// Walks the tree of a template. One rendering, one evaluator.
class Evaluator {
public:
    /// `variables`: what the template can read besides the functions that every template has.
    Evaluator(Context& context, const std::vector<std::pair<std::string, Value>>& variables);

    Text render(const Body& body);

private:
    /// The end of a body.
    enum class Flow { kOn, kBreak, kContinue };
    class Scope;

    Flow run(const Body& body, Frame& frame, Text& output);
    Flow run(const Statement& statement, Frame& frame, Text& output);
    Flow run_if(const If& node, Frame& frame, Text& output);
    Flow run_for(const For& node, Position position, Frame& frame, Text& output);
    Flow run_with(const With& node, Frame& frame, Text& output);
    void run_call(const CallBlock& node, Position position, Frame& frame, Text& output);
    /// The text of a body in a scope of its own, as a value.
    Value captured(const Body& body, Frame& outer);
    Value filtered(const std::vector<FilterCall>& filters, Value value, Position position, Frame& frame);
    void print(const Value& value, Text& output);
    void assign(const Target& target, Value value, Frame& frame);
    Value macro(const std::string& name, const Signature& signature, const Body& body, Frame& frame);
    Value call_macro(const std::string& name, const Signature& signature, const Body& body, Frame& frame,
                     Arguments arguments);

    Value evaluate(const Expression& expression, Frame& frame);
    Value evaluate(const ExpressionPtr& expression, Frame& frame) { return evaluate(*expression, frame); }
    Value evaluate(const Binary& node, Position position, Frame& frame);
    Value evaluate(const Compare& node, Position position, Frame& frame);
    Value evaluate(const Conditional& node, Frame& frame);
    Value evaluate(const DictOf& node, Position position, Frame& frame);
    Value evaluate(const Call& node, Position position, Frame& frame);
    Value evaluate(const FilterCall& node, Position position, Frame& frame);
    bool evaluate(const TestCall& node, Position position, Frame& frame);
    Value name(const Name& node, Frame& frame);
    Arguments arguments(const CallArguments& nodes, Position position, Frame& frame);
    Value call(const Value& callee, Position position, Arguments arguments);

    Context& context_;
    Frame globals_;
    std::vector<std::unique_ptr<Frame>> captured_;  ///< scopes that macros refer to
};

}  // namespace tessera::jinja
