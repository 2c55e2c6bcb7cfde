#include "lowering/movement/value_expr.h"

#include <algorithm>
#include <cmath>

namespace tessera::movement {

bool same(const ValuePtr& a, const ValuePtr& b) {
    return a == b || (a && b && a->node == b->node);
}

bool ApplyValue::operator==(const ApplyValue& other) const {
    return function == other.function &&
           std::equal(arguments.begin(), arguments.end(), other.arguments.begin(), other.arguments.end(),
                      [](const ValuePtr& a, const ValuePtr& b) { return same(a, b); });
}

bool RoundValue::operator==(const RoundValue& other) const {
    return to == other.to && same(argument, other.argument);
}

ValuePtr make_value(ValueExpr value) {
    return std::make_shared<const ValueExpr>(std::move(value));
}

ValuePtr number_value(double value) {
    constexpr double kLargestWhole = 0x1p53;
    return make_value({Number{value, std::fabs(value) <= kLargestWhole && value == std::trunc(value)}});
}

ValuePtr apply_value(Function function, std::vector<ValuePtr> arguments) {
    return make_value({ApplyValue{function, std::move(arguments)}});
}

ValuePtr rounded_value(ElementType type, ValuePtr value) {
    if (type == ElementType::kF32) return value;
    return make_value({RoundValue{type, std::move(value)}});
}

ValuePtr substitute(const ValuePtr& value, const std::string& variable, const Index& by) {
    struct Visit {
        const ValuePtr& value;
        const std::string& variable;
        const Index& by;
        ValuePtr operator()(const Number&) const { return value; }
        ValuePtr operator()(const Infinity&) const { return value; }
        ValuePtr operator()(const AccumulatorRef&) const { return value; }
        ValuePtr operator()(const Integer& integer) const {
            return make_value({Integer{integer.value.substitute(variable, by), integer.lane_stride}});
        }
        ValuePtr operator()(Load load) const {
            load.from.offset = load.from.offset.substitute(variable, by);
            for (Load::Guard& guard : load.guards) {
                guard.coordinate = guard.coordinate.substitute(variable, by);
                guard.extent = guard.extent.substitute(variable, by);
            }
            return make_value({std::move(load)});
        }
        ValuePtr operator()(ApplyValue call) const {
            for (ValuePtr& argument : call.arguments) argument = substitute(argument, variable, by);
            return make_value({std::move(call)});
        }
        ValuePtr operator()(const RoundValue& rounded) const {
            return make_value({RoundValue{rounded.to, substitute(rounded.argument, variable, by)}});
        }
    };
    return std::visit(Visit{value, variable, by}, value->node);
}

}  // namespace tessera::movement
