#include "run/jinja/evaluator.h"

#include <fmt/format.h>

#include "run/jinja/operators.h"
#include "support/error.h"

// Statements. Expressions are in evaluate_expression.cpp.

namespace tessera::jinja {

void Frame::set(const std::string& name, Value value) {
    for (auto& [known, held] : variables_)
        if (known == name) {
            held = std::move(value);
            return;
        }
    variables_.emplace_back(name, std::move(value));
}

const Value* Frame::find(const std::string& name) const {
    for (const Frame* frame = this; frame != nullptr; frame = frame->outer_)
        for (const auto& [known, value] : frame->variables_)
            if (known == name) return &value;
    return nullptr;
}

void Frame::capture() {
    for (Frame* frame = this; frame != nullptr && !frame->is_captured_; frame = frame->outer_)
        frame->is_captured_ = true;
}

/// A scope that ends with the block, unless a macro was defined in it.
class Evaluator::Scope {
public:
    Scope(Evaluator& evaluator, Frame& outer)
        : evaluator_(evaluator), frame_(std::make_unique<Frame>(&outer)) {}
    ~Scope() {
        if (frame_->is_captured()) evaluator_.captured_.push_back(std::move(frame_));
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    Frame& frame() { return *frame_; }

private:
    Evaluator& evaluator_;
    std::unique_ptr<Frame> frame_;
};

Evaluator::Evaluator(Context& context, const std::vector<std::pair<std::string, Value>>& variables)
    : context_(context), globals_(nullptr) {
    for (const auto& [name, value] : variables) globals_.set(name, value);
}

Text Evaluator::render(const Body& body) {
    Text output;
    Scope scope(*this, globals_);
    run(body, scope.frame(), output);
    return output;
}

Evaluator::Flow Evaluator::run(const Body& body, Frame& frame, Text& output) {
    for (const Statement& statement : body)
        if (const Flow flow = run(statement, frame, output); flow != Flow::kOn) return flow;
    return Flow::kOn;
}

Evaluator::Flow Evaluator::run(const Statement& statement, Frame& frame, Text& output) {
    const Context::Level level(context_);
    const Position position = statement.position;
    context_.set_position(position);
    context_.step();
    if (const auto* data = std::get_if<Data>(&statement.node)) {
        context_.output(data->text.size());
        output.append(data->text);
    } else if (const auto* shown = std::get_if<Output>(&statement.node)) {
        const Value value = evaluate(shown->value, frame);
        context_.set_position(position);
        print(value, output);
    } else if (const auto* choice = std::get_if<If>(&statement.node)) {
        return run_if(*choice, frame, output);
    } else if (const auto* loop = std::get_if<For>(&statement.node)) {
        return run_for(*loop, position, frame, output);
    } else if (const auto* set = std::get_if<Set>(&statement.node)) {
        assign(set->target, evaluate(set->value, frame), frame);
    } else if (const auto* block = std::get_if<SetBlock>(&statement.node)) {
        assign(block->target, filtered(block->filters, captured(block->body, frame), position, frame), frame);
    } else if (const auto* definition = std::get_if<Macro>(&statement.node)) {
        frame.set(definition->name, macro(definition->name, definition->signature, definition->body, frame));
    } else if (const auto* call = std::get_if<CallBlock>(&statement.node)) {
        run_call(*call, position, frame, output);
    } else if (const auto* filter = std::get_if<FilterBlock>(&statement.node)) {
        const Value value = filtered(filter->filters, captured(filter->body, frame), position, frame);
        context_.set_position(position);
        print(value, output);
    } else if (const auto* with = std::get_if<With>(&statement.node)) {
        return run_with(*with, frame, output);
    } else if (const auto* generation = std::get_if<Generation>(&statement.node)) {
        Scope scope(*this, frame);
        return run(generation->body, scope.frame(), output);
    } else {
        return std::holds_alternative<Break>(statement.node) ? Flow::kBreak : Flow::kContinue;
    }
    return Flow::kOn;
}

Evaluator::Flow Evaluator::run_if(const If& node, Frame& frame, Text& output) {
    for (const auto& [condition, body] : node.branches)
        if (is_true(evaluate(condition, frame))) return run(body, frame, output);
    return run(node.otherwise, frame, output);
}

Evaluator::Flow Evaluator::run_for(const For& node, Position position, Frame& frame, Text& output) {
    const Value value = evaluate(node.items, frame);
    context_.set_position(position);
    std::vector<Value> items = iterate(context_, value);
    if (node.filter) {
        std::vector<Value> kept;
        for (Value& item : items) {
            Scope scope(*this, frame);
            assign(node.target, item, scope.frame());
            if (is_true(evaluate(node.filter, scope.frame()))) kept.push_back(std::move(item));
        }
        items = std::move(kept);
    }
    const auto loop = std::make_shared<Loop>();
    loop->depth = depth(items) + 1;
    context_.check_depth(loop->depth);
    loop->items = std::move(items);
    // As in Jinja2, `else` also follows where no iteration came to its end, because of `break` or `continue`.
    bool came_to_end = false;
    for (; loop->index < loop->items.size(); ++loop->index) {
        context_.step();
        Scope scope(*this, frame);
        scope.frame().set("loop", Value(loop));
        assign(node.target, loop->items[loop->index], scope.frame());
        const Flow flow = run(node.body, scope.frame(), output);
        came_to_end = came_to_end || flow == Flow::kOn;
        if (flow == Flow::kBreak) break;
    }
    if (came_to_end) return Flow::kOn;
    Scope scope(*this, frame);
    return run(node.otherwise, scope.frame(), output);
}

Evaluator::Flow Evaluator::run_with(const With& node, Frame& frame, Text& output) {
    Scope scope(*this, frame);
    for (const auto& [target, value] : node.values) assign(target, evaluate(value, frame), scope.frame());
    return run(node.body, scope.frame(), output);
}

void Evaluator::run_call(const CallBlock& node, Position position, Frame& frame, Text& output) {
    const auto& call_node = std::get<Call>(node.call->node);
    const Value callee = evaluate(call_node.callee, frame);
    Arguments given = arguments(call_node.arguments, position, frame);
    given.named.emplace_back("caller", macro("caller", node.signature, node.body, frame));
    const Value result = call(callee, position, std::move(given));
    context_.set_position(position);
    print(result, output);
}

Value Evaluator::captured(const Body& body, Frame& outer) {
    Text text;
    Scope scope(*this, outer);
    run(body, scope.frame(), text);
    return context_.make(std::move(text));
}

Value Evaluator::filtered(const std::vector<FilterCall>& filters, Value value, Position position,
                          Frame& frame) {
    for (const FilterCall& filter : filters) {
        const Arguments given = arguments(filter.arguments, position, frame);
        context_.set_position(position);
        if (filter.filter == nullptr) context_.fail(fmt::format("there is no filter `{}`", filter.name));
        value = filter.filter(context_, value, given);
    }
    return value;
}

void Evaluator::print(const Value& value, Text& output) {
    const Text text = to_text(context_, value);
    context_.output(text.size());
    output.append(text);
}

void Evaluator::assign(const Target& target, Value value, Frame& frame) {
    context_.set_position(target.position);
    if (!target.parts.empty()) {
        const std::vector<Value> items = iterate(context_, value);
        if (items.size() != target.parts.size())
            context_.fail(
                fmt::format("{} values cannot be assigned to {} names", items.size(), target.parts.size()));
        for (size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i], frame);
        return;
    }
    if (target.attribute.empty()) return frame.set(target.name, std::move(value));
    const Value* object = frame.find(target.name);
    Namespace* space = object == nullptr ? nullptr : object->as_namespace();
    if (space == nullptr)
        context_.fail(fmt::format("`{}` is no namespace: its attributes cannot be set", target.name));
    context_.step(static_cast<int64_t>(space->attributes.size() / 8));
    for (auto& [name, held] : space->attributes)
        if (name == target.attribute) {
            held = std::move(value);
            return;
        }
    context_.allocate(kValueBytes);
    space->attributes.emplace_back(target.attribute, std::move(value));
}

Value Evaluator::macro(const std::string& name, const Signature& signature, const Body& body, Frame& frame) {
    frame.capture();
    context_.allocate(sizeof(Frame) + 4 * kValueBytes);
    // The frame outlives the value: scopes that macros refer to are kept until the evaluator ends.
    return context_.make_callable(name, Value::none(),
                                  [this, name, &signature, &body, &frame](Context&, Arguments given) {
                                      return call_macro(name, signature, body, frame, std::move(given));
                                  });
}

Value Evaluator::call_macro(const std::string& name, const Signature& signature, const Body& body,
                            Frame& frame, Arguments given) {
    const auto& parameters = signature.parameters;
    std::vector<Value> more(given.positional.begin() +
                                static_cast<ptrdiff_t>(std::min(given.positional.size(), parameters.size())),
                            given.positional.end());
    if (!more.empty() && !signature.uses_varargs)
        context_.fail(fmt::format("the macro `{}` takes at most {} arguments", name, parameters.size()));
    const auto take = [&](const std::string& wanted) -> const Value* {
        for (const auto& [key, value] : given.named)
            if (key == wanted) return &value;
        return nullptr;
    };
    Scope scope(*this, frame);
    const size_t first_default = parameters.size() - signature.defaults.size();
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Value* named = take(parameters[i]);
        if (i < given.positional.size()) {
            if (named != nullptr)
                context_.fail(fmt::format("the macro `{}` is given `{}` twice", name, parameters[i]));
            scope.frame().set(parameters[i], given.positional[i]);
        } else if (named != nullptr) {
            scope.frame().set(parameters[i], *named);
        } else if (i >= first_default) {
            scope.frame().set(parameters[i], evaluate(signature.defaults[i - first_default], scope.frame()));
        } else {
            scope.frame().set(parameters[i], Value::undefined(parameters[i]));
        }
    }
    std::vector<std::pair<Value, Value>> others;
    for (auto& [key, value] : given.named) {
        const bool is_parameter = std::find(parameters.begin(), parameters.end(), key) != parameters.end();
        if (is_parameter || (key == "caller" && signature.uses_caller)) continue;
        if (!signature.uses_kwargs)
            context_.fail(fmt::format("the macro `{}` has no parameter `{}`", name, key));
        others.emplace_back(Value::text(key), value);
    }
    const bool takes_caller = std::find(parameters.begin(), parameters.end(), "caller") != parameters.end();
    if (signature.uses_caller && !takes_caller) {
        const Value* caller = take("caller");
        scope.frame().set("caller", caller != nullptr ? *caller : Value::undefined("caller"));
    }
    if (signature.uses_varargs)
        scope.frame().set("varargs", context_.make(std::move(more), List::Kind::kTuple));
    if (signature.uses_kwargs) scope.frame().set("kwargs", context_.make_dict(std::move(others)));
    Text text;
    run(body, scope.frame(), text);
    return context_.make(std::move(text));
}

}  // namespace tessera::jinja
