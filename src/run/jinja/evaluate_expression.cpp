#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/evaluator.h"
#include "run/jinja/operators.h"

namespace tessera::jinja {

Value Evaluator::evaluate(const Expression& expression, Frame& frame) {
    const Context::Level level(context_);
    context_.step();
    const Position position = expression.position;
    const auto optional = [&](const ExpressionPtr& part) {
        return part ? evaluate(part, frame) : Value::none();
    };
    const auto all = [&](const std::vector<ExpressionPtr>& parts) {
        std::vector<Value> values;
        values.reserve(parts.size());
        for (const ExpressionPtr& part : parts) values.push_back(evaluate(part, frame));
        context_.set_position(position);
        return values;
    };
    const auto& node = expression.node;
    if (const auto* literal = std::get_if<Literal>(&node)) return literal->value;
    if (const auto* variable = std::get_if<Name>(&node)) return name(*variable, frame);
    if (const auto* list = std::get_if<ListOf>(&node))
        return context_.make(all(list->items), list->is_tuple ? List::Kind::kTuple : List::Kind::kList);
    if (const auto* dict = std::get_if<DictOf>(&node)) return evaluate(*dict, position, frame);
    if (const auto* unary = std::get_if<Unary>(&node)) {
        const Value value = evaluate(unary->operand, frame);
        if (unary->op == UnaryOperator::kNot) return Value::of(!is_true(value));
        context_.set_position(position);
        const Value negative = negate(context_, value);
        return unary->op == UnaryOperator::kMinus ? negative : negate(context_, negative);
    }
    if (const auto* binary = std::get_if<Binary>(&node)) return evaluate(*binary, position, frame);
    if (const auto* logic = std::get_if<Logic>(&node)) {
        Value left = evaluate(logic->left, frame);
        return is_true(left) == logic->is_and ? evaluate(logic->right, frame) : left;
    }
    if (const auto* parts = std::get_if<Concatenation>(&node)) {
        Text text;
        for (const Value& value : all(parts->parts)) text.append(to_text(context_, value));
        return context_.make(std::move(text));
    }
    if (const auto* compare = std::get_if<Compare>(&node)) return evaluate(*compare, position, frame);
    if (const auto* choice = std::get_if<Conditional>(&node)) return evaluate(*choice, frame);
    if (const auto* member = std::get_if<Attribute>(&node)) {
        const Value object = evaluate(member->object, frame);
        context_.set_position(position);
        return attribute(context_, object, member->name);
    }
    if (const auto* indexed = std::get_if<Item>(&node)) {
        const Value object = evaluate(indexed->object, frame);
        const Value index = evaluate(indexed->index, frame);
        context_.set_position(position);
        return item(context_, object, index);
    }
    if (const auto* part = std::get_if<jinja::Slice>(&node)) {
        const Value object = evaluate(part->object, frame);
        const Value start = optional(part->start);
        const Value stop = optional(part->stop);
        const Value step = optional(part->step);
        context_.set_position(position);
        return slice(context_, object, start, stop, step);
    }
    if (const auto* called = std::get_if<Call>(&node)) return evaluate(*called, position, frame);
    if (const auto* filter = std::get_if<FilterCall>(&node)) return evaluate(*filter, position, frame);
    return Value::of(evaluate(std::get<TestCall>(node), position, frame));
}

Value Evaluator::name(const Name& node, Frame& frame) {
    if (const Value* value = frame.find(node.name)) return *value;
    Value global = global_function(node.name);
    return global.is_undefined() ? Value::undefined(node.name) : global;
}

Value Evaluator::evaluate(const Binary& node, Position position, Frame& frame) {
    const Value left = evaluate(node.left, frame);
    const Value right = evaluate(node.right, frame);
    context_.set_position(position);
    switch (node.op) {
        case BinaryOperator::kAdd:
            return add(context_, left, right);
        case BinaryOperator::kSubtract:
            return subtract(context_, left, right);
        case BinaryOperator::kMultiply:
            return multiply(context_, left, right);
        case BinaryOperator::kDivide:
            return divide(context_, left, right);
        case BinaryOperator::kFloorDivide:
            return floor_divide(context_, left, right);
        case BinaryOperator::kRemainder:
            return remainder(context_, left, right);
        case BinaryOperator::kPower:
            return power(context_, left, right);
    }
    return {};
}

Value Evaluator::evaluate(const Compare& node, Position position, Frame& frame) {
    Value left = evaluate(node.first, frame);
    for (const auto& [comparison, operand] : node.rest) {
        Value right = evaluate(operand, frame);
        context_.set_position(position);
        const auto holds = [&, comparison = comparison] {
            switch (comparison) {
                case Comparison::kEqual:
                    return equals(context_, left, right);
                case Comparison::kUnequal:
                    return !equals(context_, left, right);
                case Comparison::kLess:
                    return order(context_, left, right) < 0;
                case Comparison::kLessEqual:
                    return order(context_, left, right) <= 0;
                case Comparison::kGreater:
                    return order(context_, right, left) < 0;
                case Comparison::kGreaterEqual:
                    return order(context_, right, left) <= 0;
                case Comparison::kIn:
                    return contains(context_, right, left);
                case Comparison::kNotIn:
                    return !contains(context_, right, left);
            }
            return false;
        };
        if (!holds()) return Value::of(false);
        left = std::move(right);
    }
    return Value::of(true);
}

Value Evaluator::evaluate(const Conditional& node, Frame& frame) {
    if (is_true(evaluate(node.condition, frame))) return evaluate(node.yes, frame);
    return node.no ? evaluate(node.no, frame) : Value::undefined("an inline `if` without `else`");
}

Value Evaluator::evaluate(const DictOf& node, Position position, Frame& frame) {
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [key_node, value_node] : node.items) {
        Value key = evaluate(key_node, frame);
        Value value = evaluate(value_node, frame);
        context_.set_position(position);
        check_key(context_, key);
        const auto same = [&](const auto& member) { return equals(context_, member.first, key); };
        if (const auto known = std::find_if(items.begin(), items.end(), same); known != items.end())
            known->second = std::move(value);
        else
            items.emplace_back(std::move(key), std::move(value));
    }
    return context_.make_dict(std::move(items));
}

Arguments Evaluator::arguments(const CallArguments& nodes, Position position, Frame& frame) {
    Arguments result;
    for (const ExpressionPtr& node : nodes.positional) result.positional.push_back(evaluate(node, frame));
    for (const auto& [name, node] : nodes.named) result.named.emplace_back(name, evaluate(node, frame));
    if (nodes.more_positional) {
        const Value more = evaluate(nodes.more_positional, frame);
        context_.set_position(position);
        for (Value& each : iterate(context_, more)) result.positional.push_back(std::move(each));
    }
    if (nodes.more_named) {
        const Value more = evaluate(nodes.more_named, frame);
        context_.set_position(position);
        if (more.dict() == nullptr) context_.fail("what follows ** is no mapping");
        for (const auto& [key, value] : more.dict()->items) {
            if (key.text() == nullptr) context_.fail("the name of an argument is no text");
            for (const auto& [other, given] : result.named)
                if (other == key.text()->bytes())
                    context_.fail(fmt::format("the argument `{}` is given twice", other));
            result.named.emplace_back(key.text()->bytes(), value);
        }
    }
    context_.set_position(position);
    return result;
}

Value Evaluator::call(const Value& callee, Position position, Arguments given) {
    context_.set_position(position);
    refuse_undefined(context_, callee);
    const Callable* callable = callee.callable();
    if (callable == nullptr) context_.fail(fmt::format("{} cannot be called", described(callee)));
    return callable->call(context_, std::move(given));
}

Value Evaluator::evaluate(const Call& node, Position position, Frame& frame) {
    const Value callee = evaluate(node.callee, frame);
    return call(callee, position, arguments(node.arguments, position, frame));
}

Value Evaluator::evaluate(const FilterCall& node, Position position, Frame& frame) {
    const Value input = evaluate(node.input, frame);
    const Arguments given = arguments(node.arguments, position, frame);
    context_.set_position(position);
    if (node.filter == nullptr) context_.fail(fmt::format("there is no filter `{}`", node.name));
    return node.filter(context_, input, given);
}

bool Evaluator::evaluate(const TestCall& node, Position position, Frame& frame) {
    const Value input = evaluate(node.input, frame);
    const Arguments given = arguments(node.arguments, position, frame);
    context_.set_position(position);
    if (node.test == nullptr) context_.fail(fmt::format("there is no test `{}`", node.name));
    return node.test(context_, input, given);
}

}  // namespace tessera::jinja
